"""What a word of the judged queries means, as a rule that a reader can check against the sample's rows.

Each thing is two regular expressions, one over the category's path (levels joined by ` > `) and one over the name, both in lower case:
a product is that thing when either of them is found in it. An empty one never is.
"""

import re
from typing import Any, NamedTuple


class Thing(NamedTuple):
    path: str
    name: str

    def matches(self, product: dict[str, Any]) -> bool:
        path, name = " > ".join(product["taxonomy"]).lower(), product["name"].lower()
        return any(rule and re.search(rule, text) for rule, text in ((self.path, path), (self.name, name)))


def named(*words: str) -> Thing:
    """Has one of the words in its name, whole; each is a regular expression."""
    return Thing("", rf"\b({'|'.join(words)})\b")


THINGS = {
    # for whom
    "men": Thing(r"\bmen's", r"\bmen\b"),
    "women": Thing(r"women's", r"\bwom[ae]n\b|\bladies\b"),
    "boys": Thing(r"\bboys\b", r"\bboys?\b|schoolboys"),
    "girls": Thing(r"\bgirls\b", r"\bgirls?\b"),
    "kids": Thing(r"kids'|baby|infant", ""),
    "baby": Thing(r"\bbaby\b", r"\bbaby\b"),
    # departments
    "clothing": Thing(r"^clothing|clothing", ""),
    "footwear": Thing(r"^footwear", ""),
    "jewellery": Thing(r"^jewellery", r"\bjewell?e?ry\b"),
    "furniture": Thing(r"^furniture", r"\bfurniture\b"),
    "stationery": Thing(r"stationery", ""),
    "home furnishing": Thing(r"^home furnishing", ""),
    "home decor": Thing(r"^home decor", ""),
    "pet": Thing(r"^pet supplies", ""),
    "mobile accessories": Thing(r"mobile accessories", ""),
    # what is worn
    "watch": Thing(r"^watches", r"\bwatch\b"),
    "ring": Thing(r"> rings", r"\bring\b"),
    "bracelet": Thing(r"> bracelets", r"\bbracelet\b"),
    "boots": Thing(r"> boots", r"\bboots?\b"),
    "shoes": Thing(r"^footwear(?!.*(boots|heels|flats|wedges|sandals|ballerinas|clogs))|shoes", r"\bshoes\b|\bloafers\b"),
    "any shoes": Thing(r"footwear|shoes", r"\bshoes\b"),
    "running shoes": named("running shoes"),
    "sports shoes": Thing(r"sports shoes", r"\b(sports|running) shoes\b"),
    "loafers": Thing(r"> loafers", r"\bloafers\b"),
    "heels": Thing(r"> heels", r"\bheels\b"),
    "flats": Thing(r"> flats", r"\bflats\b"),
    "ballerinas": Thing(r"> ballerinas", r"\bbellies\b"),
    "wedges": Thing(r"> wedges", r"\bwedges\b"),
    "sandals": Thing(r"sandals", r"\bsandals\b"),
    "dress": Thing(r"> dresses(?! & nighties)", r"\bdress\b"),
    "top": Thing(r"> tops", r"\btop\b"),
    "shirt": Thing(r"> (casual & party wear|formal) shirts|tunics > shirts", r"(?<!t-)\bshirt\b"),
    "formal shirt": Thing(r"formal shirts", r"\bformal shirt\b"),
    "casual shirt": Thing(r"casual & party wear shirts", r"\bcasual(?! full| short).* shirt\b"),
    "t-shirt": Thing(r"polos & t-shirts", r"\bt-shirt\b"),
    "jeans": Thing(r"> jeans", r"\bjeans\b"),
    "sweater": Thing(r"sweaters", r"\bsweater\b"),
    "sweatshirt": Thing(r"sweatshirts", r"\bsweatshirt\b"),
    "leggings": Thing(r"leggings|jegging", r"\bleggings\b"),
    "kurta": Thing(r"> kurtas?\b(?! &)", r"\bkurta\b"),
    "kurti": Thing(r"> kurtis", r"\bkurti\b"),
    "waistcoat": Thing(r"waistcoats", r"\bwaistcoat\b"),
    "necktie": named("neck ?tie"),
    "shorts": Thing(r"> shorts", r"\bshorts\b"),
    "track pants": Thing(r"track pants", r"\btrack pants\b"),
    "swimsuit": Thing(r"swimsuits", r"\bswimsuits?\b"),
    "pyjama": Thing(r"night suits", r"\bpyjama\b"),
    "stole": Thing(r"scarves & stoles", r"\bstole\b"),
    "nightdress": Thing(r"night dresses", r"\bnighty\b"),
    "lingerie": Thing(r"lingerie", r"\blingerie\b"),
    "gloves": Thing(r"gloves", r"\bgloves\b"),
    "belt": Thing(r"> belts", r"\bbelt\b"),
    "clutch": Thing(r"> clutches", r"\bclutch\b"),
    "sunglasses": named("sunglasses"),
    "jacket": Thing(r"winter jackets", r"women's jacket"),
    "cargos": Thing(r"> cargos", r"\bcargos\b"),
    # what stands at home
    "mug": Thing(r"mugs", r"\bmug\b"),
    "bulb": Thing(r"bulbs", r"\bbulb\b"),
    "curtain": Thing(r"> curtains(?! &)", r"\bcurtain\b"),
    "pillow": Thing(r"> pillows", r"\bpillow\b"),
    "cushion cover": named("cushions? cover"),
    "bedsheet": Thing(r"bedsheets", r"\bbedsheet\b"),
    "duvet cover": Thing(r"duvet covers", r"\bduvet cover\b"),
    "bath mat": Thing(r"bath mats", r"\bbath ?mat"),
    "towel": Thing(r"towels", r"\btowel\b"),
    "diwan set": Thing(r"diwan sets", r"\bdiwan set\b"),
    "sofa bed": Thing(r"sofa beds", r"\bsofa bed\b"),
    "showpiece": Thing(r"showpiece", r"\bshowpiece\b"),
    "clock": named("clock"),
    "air freshener": Thing(r"home fragrances", r"\bair freshener\b"),
    "potpourri": Thing(r"potpourri", ""),
    "microwave": Thing(r"microwave", r"\bmicrowave\b"),
    "jug": Thing(r"jug, glass", r"\bjug\b"),
    "umbrella": Thing(r"umbrellas", r"\bumbrella\b"),
    "bottle": Thing(r"bottles?\b", r"\bbottle\b"),
    # what is written with, plugged in, played with
    "notebook": Thing(r"> notebooks", r"\bnotebook\b"),
    "diary": Thing(r"diaries", r"\bdiaries\b"),
    "whiteboard": Thing(r"whiteboards", r"\bwhiteboards?\b"),
    "folder": Thing(r"files and folders", r"\bfolders?\b"),
    "pen": Thing(r"> pens >", r"\bpen\b"),
    "charger": Thing(r"chargers", r"\bcharger\b"),
    "pouch": Thing(r"mobile pouches", r"\bpouch for\b"),
    "screen guard": Thing(r"screen guards", r"\btempered glass\b"),
    "router": Thing(r"routers", r"\brouter\b"),
    "keyboard": Thing(r"keyboards", r"\bkeyboard\b"),
    "skates": Thing(r"skating", r"\bskates\b"),
    "golf ball": Thing(r"golf balls", r"\bgolf ball\b"),
    "board game": Thing(r"board games", r"\bboard game\b"),
    "cricket pads": Thing(r"cricket pads", ""),
    "cricket gloves": Thing(r"cricket gloves", ""),
    "cricket": Thing(r"cricket", ""),
    "conditioner": Thing(r"conditioners", r"\bconditioner\b"),
    "soap": Thing(r"soaps", r"\bsoap\b"),
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
