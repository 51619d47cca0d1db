"""The concepts of the judged queries: what a word means, as a rule that a reader can check against the sample's rows.

Each concept is two regular expressions, one over the category's path (levels joined by ` > `) and one over the name, both in lower case:
a product belongs to it when either of them is found in it. An empty one never is.
"""

import re
from typing import Any, NamedTuple


class Concept(NamedTuple):
    path: str
    name: str

    def matches(self, product: dict[str, Any]) -> bool:
        path, name = " > ".join(product["taxonomy"]).lower(), product["name"].lower()
        return any(rule and re.search(rule, text) for rule, text in ((self.path, path), (self.name, name)))


def named(*words: str) -> Concept:
    """Has one of the words in its name, whole; each is a regular expression."""
    return Concept("", rf"\b({'|'.join(words)})\b")


CONCEPTS = {
    # for whom
    "men": Concept(r"\bmen's", r"\bmen\b"),
    "women": Concept(r"women's", r"\bwom[ae]n\b|\bladies\b"),
    "boys": Concept(r"\bboys\b", r"\bboys?\b|schoolboys"),
    "girls": Concept(r"\bgirls\b", r"\bgirls?\b"),
    "kids": Concept(r"kids'|baby|infant", ""),
    "baby": Concept(r"\bbaby\b", r"\bbaby\b"),
    # departments
    "clothing": Concept(r"^clothing|clothing", ""),
    "footwear": Concept(r"^footwear", ""),
    "jewellery": Concept(r"^jewellery", r"\bjewell?e?ry\b"),
    "furniture": Concept(r"^furniture", r"\bfurniture\b"),
    "stationery": Concept(r"stationery", ""),
    "home furnishing": Concept(r"^home furnishing", ""),
    "home decor": Concept(r"^home decor", ""),
    "pet": Concept(r"^pet supplies", ""),
    "mobile accessories": Concept(r"mobile accessories", ""),
    # what is worn
    "watch": Concept(r"^watches", r"\bwatch\b"),
    "ring": Concept(r"> rings", r"\bring\b"),
    "bracelet": Concept(r"> bracelets", r"\bbracelet\b"),
    "boots": Concept(r"> boots", r"\bboots?\b"),
    "shoes": Concept(r"^footwear(?!.*(boots|heels|flats|wedges|sandals|ballerinas|clogs))|shoes", r"\bshoes\b|\bloafers\b"),
    "any shoes": Concept(r"footwear|shoes", r"\bshoes\b"),
    "running shoes": named("running shoes"),
    "sports shoes": Concept(r"sports shoes", r"\b(sports|running) shoes\b"),
    "loafers": Concept(r"> loafers", r"\bloafers\b"),
    "heels": Concept(r"> heels", r"\bheels\b"),
    "flats": Concept(r"> flats", r"\bflats\b"),
    "ballerinas": Concept(r"> ballerinas", r"\bbellies\b"),
    "wedges": Concept(r"> wedges", r"\bwedges\b"),
    "sandals": Concept(r"sandals", r"\bsandals\b"),
    "dress": Concept(r"> dresses(?! & nighties)", r"\bdress\b"),
    "top": Concept(r"> tops", r"\btop\b"),
    "shirt": Concept(r"> (casual & party wear|formal) shirts|tunics > shirts", r"(?<!t-)\bshirt\b"),
    "formal shirt": Concept(r"formal shirts", r"\bformal shirt\b"),
    "casual shirt": Concept(r"casual & party wear shirts", r"\bcasual(?! full| short).* shirt\b"),
    "t-shirt": Concept(r"polos & t-shirts", r"\bt-shirt\b"),
    "jeans": Concept(r"> jeans", r"\bjeans\b"),
    "sweater": Concept(r"sweaters", r"\bsweater\b"),
    "sweatshirt": Concept(r"sweatshirts", r"\bsweatshirt\b"),
    "leggings": Concept(r"leggings|jegging", r"\bleggings\b"),
    "kurta": Concept(r"> kurtas?\b(?! &)", r"\bkurta\b"),
    "kurti": Concept(r"> kurtis", r"\bkurti\b"),
    "waistcoat": Concept(r"waistcoats", r"\bwaistcoat\b"),
    "necktie": named("neck ?tie"),
    "shorts": Concept(r"> shorts", r"\bshorts\b"),
    "track pants": Concept(r"track pants", r"\btrack pants\b"),
    "swimsuit": Concept(r"swimsuits", r"\bswimsuits?\b"),
    "pyjama": Concept(r"night suits", r"\bpyjama\b"),
    "stole": Concept(r"scarves & stoles", r"\bstole\b"),
    "nightdress": Concept(r"night dresses", r"\bnighty\b"),
    "lingerie": Concept(r"lingerie", r"\blingerie\b"),
    "gloves": Concept(r"gloves", r"\bgloves\b"),
    "belt": Concept(r"> belts", r"\bbelt\b"),
    "clutch": Concept(r"> clutches", r"\bclutch\b"),
    "sunglasses": named("sunglasses"),
    "jacket": Concept(r"winter jackets", r"women's jacket"),
    "cargos": Concept(r"> cargos", r"\bcargos\b"),
    # what stands at home
    "mug": Concept(r"mugs", r"\bmug\b"),
    "bulb": Concept(r"bulbs", r"\bbulb\b"),
    "curtain": Concept(r"> curtains(?! &)", r"\bcurtain\b"),
    "pillow": Concept(r"> pillows", r"\bpillow\b"),
    "cushion cover": named("cushions? cover"),
    "bedsheet": Concept(r"bedsheets", r"\bbedsheet\b"),
    "duvet cover": Concept(r"duvet covers", r"\bduvet cover\b"),
    "bath mat": Concept(r"bath mats", r"\bbath ?mat"),
    "towel": Concept(r"towels", r"\btowel\b"),
    "diwan set": Concept(r"diwan sets", r"\bdiwan set\b"),
    "sofa bed": Concept(r"sofa beds", r"\bsofa bed\b"),
    "showpiece": Concept(r"showpiece", r"\bshowpiece\b"),
    "clock": named("clock"),
    "air freshener": Concept(r"home fragrances", r"\bair freshener\b"),
    "potpourri": Concept(r"potpourri", ""),
    "microwave": Concept(r"microwave", r"\bmicrowave\b"),
    "jug": Concept(r"jug, glass", r"\bjug\b"),
    "umbrella": Concept(r"umbrellas", r"\bumbrella\b"),
    "bottle": Concept(r"bottles?\b", r"\bbottle\b"),
    # what is written with, plugged in, played with
    "notebook": Concept(r"> notebooks", r"\bnotebook\b"),
    "diary": Concept(r"diaries", r"\bdiaries\b"),
    "whiteboard": Concept(r"whiteboards", r"\bwhiteboards?\b"),
    "folder": Concept(r"files and folders", r"\bfolders?\b"),
    "pen": Concept(r"> pens >", r"\bpen\b"),
    "charger": Concept(r"chargers", r"\bcharger\b"),
    "pouch": Concept(r"mobile pouches", r"\bpouch for\b"),
    "screen guard": Concept(r"screen guards", r"\btempered glass\b"),
    "router": Concept(r"routers", r"\brouter\b"),
    "keyboard": Concept(r"keyboards", r"\bkeyboard\b"),
    "skates": Concept(r"skating", r"\bskates\b"),
    "golf ball": Concept(r"golf balls", r"\bgolf ball\b"),
    "board game": Concept(r"board games", r"\bboard game\b"),
    "cricket pads": Concept(r"cricket pads", ""),
    "cricket gloves": Concept(r"cricket gloves", ""),
    "cricket": Concept(r"cricket", ""),
    "conditioner": Concept(r"conditioners", r"\bconditioner\b"),
    "soap": Concept(r"soaps", r"\bsoap\b"),
    "dog shampoo": named("dog shampoo"),
    "ipad cover": named("cover for ipad.*"),
    # what it is like
    "red": named("red"), "black": named("black"), "blue": named("blue"), "gold": named("gold"), "pink": named("pink"),
    "white": named("white"), "green": named("green"), "orange": named("orange"), "silver": named("silver"), "brown": named("brown"),
    "white gold": named("white gold"), "yellow gold": named("yellow gold"), "sterling silver": named("sterling silver"),
    "diamond": named("diamond"), "pearl": named("pearl"), "ruby": named("ruby"), "analog": named("analog", "analog-digital"),
    "digital": named("digital", "analog-digital"), "led": named("led"), "9 w": named("9 w"), "ceramic": named("ceramic"),
    "cotton": named("cotton"), "double": named("double"), "leather": named("leather"), "printed": named("printed"),
    "a-line": named("a-line"), "maxi": named("maxi"), "gathered": named("gathered"), "short sleeve": named("short sleeve"),
    "sleeveless": named("sleeveless"), "full sleeve": named("full sleeve"), "round neck": named("round neck"), "striped": named("striped"),
    "aviator": named("aviator"), "window": named("window"), "musical": named("musical"), "sports": named("sports"),
    "polo": named("polo"), "slim": named("slim"), "casual": named("casual"), "18 k": named("18 k"), "synthetic": named("synthetic"),
    "compass": named("compass", r"dcompass\d+"), "lenovo": named("lenovo", "lnvo"), "xiaomi": named("xiaomi"), "teddy": named("teddy"),
    # by whom
    "allen solly": named("allen solly"), "franck bella": named("franck bella"), "disney": named("disney"), "karatcraft": named("karatcraft"),
    "lee": named("lee"), "wrangler": named("wrangler"), "akup": named("akup"), "bft": named("bft"), "asics": named("asics"),
    "dove": named("dove"), "furst": named("furst"), "jdx": named("jdx"), "herberto": named("herberto"), "skmei": named("skmei"),
    "roadster": named("roadster"), "benetton": named("united colors of benetton"), "mynte": named("mynte"), "hrs": named("hrs"),
    "lg": named("lg"), "kiara": named("kiara"), "teemoods": named("teemoods"), "steppings": named("steppings"), "bluestone": named("bluestone"),
    "vizion": named("vizion"), "crocs": named("crocs"), "d-link": named("d-link"), "q&q": named("q&q"), "d'signer": named("d'signer"),
    "tressemme": named("tresemme"), "peter england": named("peter england"), "van heusen": named("van heusen"), "kielz": named("kielz"),
}  # fmt: skip
