"""Judged queries of a German shop, in each dialect: plurals, umlauts as they are typed, compounds joined and split, stop words."""

from collections.abc import Callable
from typing import Any

import pytest

from services.products.actions import browse, importing
from services.products.actions.question import Question
from services.products.dependencies import Dependencies
from services.products.documents import design_in
from shared.couch import Server
from shared.couch.client import Client
from tests.services.products.conftest import open_as_worker, product

GOODS = {
    "damenschuh": ("Mode/Damen/Schuhe", "Damenschuhe aus Leder"),
    "herrenschuh": ("Mode/Herren/Schuhe", "Herrenschuh, schwarz"),
    "handschuh": ("Mode/Zubehör", "Handschuhe aus Wolle"),
    "kleid": ("Mode/Damen/Kleider", "Sommerkleid mit Blumen"),
    "rock": ("Mode/Damen/Röcke", "Faltenrock, grün"),
    "hemd": ("Mode/Herren/Hemden", "Hemd für Herren, bügelfrei"),
    "kinderjacke": ("Mode/Kinder/Jacken", "Regenjacke für Mädchen"),
    "muetze": ("Mode/Zubehör", "Strickmütze"),
    "stehlampe": ("Wohnen/Licht", "Große Stehlampe"),
    "tischlampe": ("Wohnen/Licht", "Tischleuchte und Lampe in einem"),
    "stuhl": ("Wohnen/Möbel", "Gartenstuhl aus Holz"),
    "esstisch": ("Wohnen/Möbel", "Esstisch, Eiche"),
    "schrank": ("Wohnen/Möbel", "Kleiderschrank mit zwei Türen"),
    "regal": ("Wohnen/Möbel", "Bücherregal"),
    "vogelhaus": ("Garten/Vögel", "Haus für Vögel"),
    "weinglas": ("Küche/Gläser", "Weinglas, sechs Stück"),
    "topf": ("Küche/Töpfe", "Topf mit Deckel"),
    "messer": ("Küche/Messer", "Brotmesser"),
    "uhr": ("Schmuck/Uhren", "Damenuhr, vergoldet"),
    "wanduhr": ("Wohnen/Deko", "Wanduhr"),
    "buch": ("Bücher/Kochen", "Das große Kochbuch"),
    "kissen": ("Wohnen/Textilien", "Sofakissen"),
    "bettwaesche": ("Wohnen/Textilien", "Bettwäsche aus Baumwolle"),
    "bett": ("Wohnen/Schlafen", "Bett, 140 cm"),
    "spuele": ("Bad/Armaturen", "Spüle aus Edelstahl"),
}

QUERIES = """
plurals: Häuser = vogelhaus | haus = vogelhaus | Stühle = stuhl | Gartenstühle = stuhl | Schränke = schrank | Regale = regal
plurals: Töpfe = topf | Töpfen = topf | Gläser = weinglas | Weingläser = weinglas | Uhren = uhr wanduhr | Röcke = rock | Hemden = hemd
plurals: Bücher = buch | Jacken = kinderjacke | Mützen = muetze | Kochbücher = buch | Türen = schrank | Vogel = vogelhaus
umlauts: haeuser = vogelhaus | stuehle = stuhl | toepfe = topf | glaeser = weinglas | roecke = rock | muetze = muetze | mutze = muetze
umlauts: grosse stehlampe = stehlampe | große Stehlampe = stehlampe | spuele = spuele | spule = spuele | moebel = stuhl esstisch schrank regal
umlauts: buecherregal = regal | bettwaesche = bettwaesche | KÜCHE = weinglas topf messer | gruen rock = rock | maedchen jacke = kinderjacke
compounds: Schuhe = damenschuh herrenschuh | Schuh = damenschuh herrenschuh | damen schuhe = damenschuh | Damenschuhe = damenschuh
compounds: Schuhe für Damen = damenschuh | Handschuh = handschuh | Handschuhe = handschuh | Lampe = stehlampe tischlampe
compounds: steh lampe = stehlampe | stehlampen = stehlampe | Stuhl = stuhl | garten stuhl = stuhl | Kleid = kleid | sommer kleid = kleid
compounds: Uhr = uhr wanduhr | damen uhr = uhr | wand uhr = wanduhr | Bett = bett | Regal = regal | Wein Glas = weinglas | Jacke = kinderjacke
compounds: Kissen = kissen | Mütze = muetze | Schrank = schrank | Damen Uhren = uhr | Kinder Jacke = kinderjacke | Glas = weinglas
stop words: Schuhe aus Leder = damenschuh | Hemd für den Herrn = hemd | das Buch = buch | fuer Vögel = vogelhaus | ein Topf mit einem Deckel = topf
stop words: die Lampe in der Küche = | Stuhl aus dem Holz = stuhl | Jacke fuer ein Mädchen = kinderjacke | ueber = | Haus für die Vögel = vogelhaus
typos: Stehlmape = stehlampe | Gartnestuhl = stuhl | Bettwesche = bettwaesche | Bücheregal = regal | Kleiderschrnak = schrank | Wandur = wanduhr
"""


def judged() -> list[Any]:
    found = []
    for line in QUERIES.strip().splitlines():
        group, _, queries = line.partition(": ")
        for each in queries.split(" | "):
            text, _, expected = each.partition(" =")
            found.append(pytest.param(text, frozenset(expected.split()), id=f"{group}: {text}"))
    return found


@pytest.fixture(scope="module", params=["search", "nouveau", "keywords"])
def german(
    request: pytest.FixtureRequest, server: Server, prepared: Callable, environment: dict[str, str]
) -> Any:
    """A German shop on a server that has no other dialect."""
    if request.param != "keywords" and request.param not in server.features():
        pytest.skip(f"this server has no {request.param}")
    others = frozenset(server.features()) - {"search", "nouveau"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "features", lambda self: others | {request.param})
        prepared(design_in("de"))
        opened = open_as_worker(environment | {"SEARCH_LANGUAGE": "de"})
        goods = [
            product(productid, taxonomy=path.split("/"), name=name)
            for productid, (path, name) in GOODS.items()
        ]
        lines = (importing.Line(n, each) for n, each in enumerate(goods, 1))
        assert not importing.run(opened, lines, lambda state: None, importing.write).failed
        yield opened


@pytest.mark.parametrize(("text", "expected"), judged())
def test_a_german_query_finds_what_is_meant(
    german: Dependencies, text: str, expected: frozenset[str]
) -> None:
    """First; what only begins so comes behind, for the last word may be unfinished."""
    listed = browse.products(german, Question(q=text))
    found = [doc["productid"] for doc in listed.docs if not listed.more.get("dropped_words")]
    assert frozenset(found[: max(1, len(expected))]) == expected
