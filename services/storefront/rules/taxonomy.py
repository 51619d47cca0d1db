"""Category paths: "Home#Kitchen#Mugs" in the API, /category/Home/Kitchen/Mugs in the address bar."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from urllib.parse import quote

from services.storefront.translation import gettext
from shared.errors import NotFound
from shared.types import Json

SEPARATOR = "#"
MAX_MOVES = 10
"""A category may have moved several times."""


@dataclass
class Category:
    """A place in the menu: `name` is the last level of its path, `label` what customers read. `number` numbers the departments."""

    name: str
    path: str
    count: int
    children: list["Category"] = field(default_factory=list)
    label: str = ""
    picture: str = ""
    text: str = ""
    number: int | None = None

    @cached_property
    def href(self) -> str:
        return href(self.path)


@dataclass
class Menu:
    """The departments, in the order of their numbers, and the categories that have moved {old path: new path}."""

    departments: list[Category] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.departments)

    def largest(self, limit: int) -> list[Category]:
        """The departments that hold the most, in the order of their numbers."""
        chosen = sorted(self.departments, key=lambda each: -each.count)[:limit]
        return sorted(chosen, key=lambda each: each.number or 0)

    def find(self, path: str) -> Category | None:
        return self.way_to(path)[-1]

    def way_to(self, path: str) -> list[Category | None]:
        """The category at each level of a path, None from where the menu does not know it."""
        level: list[Category] = self.departments
        way: list[Category | None] = []
        for name in path.split(SEPARATOR):
            found = next((each for each in level if each.name == name), None)
            way.append(found)
            level = found.children if found else []
        return way

    def label(self, path: str) -> str:
        """What customers read for a category."""
        found = self.find(path)
        return found.label if found else path.rpartition(SEPARATOR)[2]

    def crumbs(self, path: str) -> list[tuple[str, str]]:
        """(label, href) of a category and all above it, topmost first."""
        names, way = path.split(SEPARATOR), self.way_to(path)
        return [
            (place.label if place else name, href(SEPARATOR.join(names[: depth + 1])))
            for depth, (name, place) in enumerate(zip(names, way, strict=True))
        ]

    def moved_to(self, path: str) -> str | None:
        """Where a category is now that has moved, or is below one that has; None for one that is where it was."""
        here = path
        for _ in range(MAX_MOVES):
            levels = here.split(SEPARATOR)
            starts = (SEPARATOR.join(levels[:depth]) for depth in range(len(levels), 0, -1))
            old = next((start for start in starts if start in self.moved), None)
            if old is None:
                break
            here = self.moved[old] + here.removeprefix(old)
        return here if here != path else None


def menu(root: Json) -> Menu:
    """The API's category tree with a number for each department, in the API's order."""
    departments = [_category(node) for node in root["children"]]
    for number, department in enumerate(departments, start=1):
        department.number = number
    return Menu(departments, root.get("moved", {}))


def _category(node: Json) -> Category:
    children = [_category(child) for child in node.get("children") or ()]
    label, picture, text = node.get("label") or node["name"], node.get("picture", ""), node.get("text", "")
    return Category(node["name"], node["path"], node.get("count", 0), children, label, picture, text)


def deduplicate(products: list[Json], limit: int) -> list[Json]:
    """At most `limit` products, the departments taking turns, each giving its first ones first."""
    turns: dict[str, int] = {}
    rounds = []
    for place, product in enumerate(products):
        department = path_of(product).split(SEPARATOR)[0]
        turns[department] = turns.get(department, 0) + 1
        rounds.append((turns[department], place, product))
    return [product for _, _, product in sorted(rounds, key=lambda each: each[:2])[:limit]]


def path_of(product: Json) -> str:
    """A product's category as a path; older documents hold it as a list."""
    taxonomy = product.get("taxonomy") or ""
    return taxonomy if isinstance(taxonomy, str) else SEPARATOR.join(taxonomy)


@lru_cache(4096)
def href(path: str) -> str:
    """A slash within a name is escaped twice, since servers decode a path once before it is split."""
    return "/category/" + "/".join(quote(_escaped(name), safe="") for name in path.split(SEPARATOR))


def from_url(decoded: str) -> str:
    """The category that an address's (once decoded) path names. Raises NotFound for an empty name."""
    names = [name.replace("%2F", "/").replace("%25", "%") for name in decoded.split("/")]
    if not all(names) or any(SEPARATOR in name for name in names):
        raise NotFound(gettext("There is no such department."))
    return SEPARATOR.join(names)


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")
