"""The judged queries: what a customer types, in which way it is typed, and the concepts that a product must belong to, all of them, to be right.

A concept is a row of `concepts.py`; `name:...` is a regular expression over the name, `id:...` one over the productid.
"""

from typing import NamedTuple


class Query(NamedTuple):
    group: str
    text: str
    concepts: tuple[str, ...]


_GROUPS = {
    "plural": """
        watches = watch | rings = ring | boots = boots | dresses = dress | tops = top | shirts = shirt | sweaters = sweater
        sweatshirts = sweatshirt | kurtas = kurta | kurtis = kurti | coffee mugs = mug | bulbs = bulb | curtains = curtain
        pillows = pillow | showpieces = showpiece | conditioners = conditioner | notebooks = notebook | clutches = clutch
        belts = belt | gloves = gloves | chargers = charger | bracelets = bracelet | keyboards = keyboard | waistcoats = waistcoat
        umbrellas = umbrella | stoles = stole | towels = towel | soaps = soap | pouches = pouch | cushion covers = cushion cover
    """,
    "singular": """
        watch = watch | boot = boots | dress = dress | mug = mug | legging = leggings | sunglass = sunglasses | loafer = loafers
        diary = diary | skate = skates | swimsuit = swimsuit | glove = gloves | board game = board game | golf ball = golf ball
    """,
    "category": """
        footwear = footwear | jewellery = jewellery | furniture = furniture | stationery = stationery | pet supplies = pet
        home furnishing = home furnishing | home decor = home decor | ballerinas = ballerinas | mobile accessories = mobile accessories
        screen guards = screen guard | routers = router | potpourri = potpourri | cricket = cricket | lingerie = lingerie
        t-shirts & polos = t-shirt | kids clothing = kids, clothing | sports shoes = sports shoes | night dresses = nightdress
    """,
    "possessive": """
        mens jeans = men, jeans | men's shirts = men, shirt | men jeans = men, jeans | womens shoes = women, any shoes | women's boots = women, boots
        womens dresses = women, dress | womens watches = women, watch | girls dresses = girls, dress | girl's dress = girls, dress
        boys sweaters = boys, sweater | boy's sweater = boys, sweater | ladies boots = name:ladies boots | women heels = women, heels
        mens neckties = men, necktie | women tops = women, top | mens sweatshirt = men, sweatshirt | mens casual shirts = men, casual shirt
        womens leggings = women, leggings | baby girls top = baby, girls, top | boys watches = boys, watch
    """,
    "joined and split": """
        tshirt = t-shirt | t-shirt = t-shirt | t shirt = t-shirt | tshirts = t-shirt | bed sheet = bedsheet | bed sheets = bedsheet
        bedsheets = bedsheet | bathmat = bath mat | bath mats = bath mat | necktie = necktie | neck tie = necktie | neckties = necktie
        sun glasses = sunglasses | show piece = showpiece | key board = keyboard | waist coat = waistcoat | note book = notebook
        sweat shirt = sweatshirt | sofabed = sofa bed | sofa-bed = sofa bed | airfreshener = air freshener | white board = whiteboard
        wristwatch = watch | wrist watches = watch | aline dress = a-line, dress | boardgame = board game
    """,
    "accents and signs": """
        home décor = home decor | jewéllery = jewellery | cürtains = curtain | D-Link router = d-link | q&q watch = q&q, watch
        dsigner watch = d'signer, watch | d'signer watches = d'signer, watch | BOOTS! = boots
    """,
    "stop words": """
        watch for boys = watch, boys | watches for men = watch, men | shoes for women = any shoes, women | dress for girls = dress, girls
        boots for women = boots, women | ring with diamond = ring, diamond | shirts for men = shirt, men | cover for ipad = ipad cover
        pouch for lenovo = pouch, lenovo | a mug for coffee = mug | sweater for boys = sweater, boys | tops for women = top, women
        tempered glass for xiaomi = screen guard, xiaomi | showpiece for the home = showpiece
    """,
    "typo": """
        wathces = watch | jeens = jeans | swetshirt = sweatshirt | braclet = bracelet | legings = leggings | pilow = pillow
        conditionr = conditioner | sunglases = sunglasses | diamnd ring = diamond, ring | curtin = curtain | notbook = notebook
        umbrela = umbrella | keybord = keyboard | loafres = loafers | jewelery = jewellery | karatcarft ring = karatcraft, ring
        coffe mug = mug | franck bela watch = franck bella, watch | showpeice = showpiece | charjer = charger
    """,
    "brand": """
        allen solly dress = allen solly, dress | franck bella watch = franck bella, watch | disney watches = disney, watch
        karatcraft rings = karatcraft, ring | lee jeans = lee, jeans | wrangler shirts = wrangler, shirt | akup mugs = akup, mug
        bft led bulb = bft, bulb | asics shoes = asics, any shoes | dove conditioner = dove, conditioner | furst chargers = furst, charger
        jdx pillows = jdx, pillow | herberto dresses = herberto, dress | skmei watch = skmei, watch | roadster jeans = roadster, jeans
        united colors of benetton sweaters = benetton, sweater | mynte shorts = mynte, shorts | lg microwave = lg, microwave
        kiara rings = kiara, ring | teemoods top = teemoods, top | kielz boots = kielz, boots | peter england shirts = peter england, shirt
    """,
    "number": """
        WATECGG4W76YEBUB = id:^WATECGG4W76YEBUB$ | srteh2ff9kedefgf = id:^SRTEH2FF9KEDEFGF$ | SRTEH2F = id:^SRTEH2F | FB0122DD = name:fb0122dd
        fb012 = name:fb012 | PK_504 = name:pk_504 | pk 504 = name:pk_504 | pk504 = name:pk_504 | dap1320 = name:dap1320 | LCS-4032 = name:lcs-4032
        lcs4032 = name:lcs-4032 | MC3286BLT = name:mc3286blt | 38015pl01 = name:38015pl01 | RR-028 = name:rr-028 | ad1031 = name:ad1031
        dw1002 = name:dw1002 | 688rgm = name:688rgm | c38gr30 = name:c38gr30
    """,
    "colour": """
        red boots = red, boots | black boots = black, boots | black clutch = black, clutch | blue clutch = blue, clutch | gold clutches = gold, clutch
        pink dress = pink, dress | white gold ring = white gold, ring | orange shirt = orange, shirt | brown belt = brown, belt
        silver rings = silver, ring
    """,
    "several words": """
        girls a-line dress = girls, a-line, dress | sterling silver rings = sterling silver, ring | yellow gold diamond ring = yellow gold, diamond, ring
        18 k gold diamond ring = 18 k, gold, diamond, ring | mens formal shirts = men, formal shirt | womens round neck sweater = women, round neck, sweater
        led bulb 9w = led, bulb, 9 w | analog watch for men = analog, watch, men | digital watches for boys = digital, watch, boys
        ceramic coffee mug = ceramic, mug | cotton double bedsheets = cotton, double, bedsheet | leather belt men = leather, belt
        aviator sunglasses = aviator, sunglasses | running shoes = running shoes | cricket gloves = cricket gloves | dog shampoo = dog shampoo
        casual short sleeve tops = casual, short sleeve, top | printed full sleeve tops = printed, full sleeve, top | shorts = shorts
        womens sleeveless casual printed top = women, sleeveless, casual, printed, top | slim fit jeans = slim, jeans | musical teddy bear = musical, teddy
    """,
    "not all there": """
        rolex running shoes = running shoes | wooden coffee mug = mug | nike cricket gloves = cricket gloves | gucci aviator sunglasses = aviator, sunglasses
        samsung microwave oven = microwave | waterproof golf umbrella = umbrella | adidas women track pants = track pants, women
        velvet sofa bed = sofa bed | bluetooth keyboard = keyboard | levis mens jeans = men, jeans | purple diwan set = diwan set
        leather golf balls = golf ball
    """,
}

QUERIES = tuple(
    Query(group, text.strip(), tuple(concept.strip() for concept in concepts.split(",")))
    for group, lines in _GROUPS.items()
    for line in lines.strip().splitlines()
    for text, _, concepts in (pair.partition("=") for pair in line.split("|"))
)
