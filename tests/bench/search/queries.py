"""The judged queries: what a customer types, in which way it is typed, and the concepts that a product must belong to, all of them, to be right.

A concept is a row of `concepts.py`; `name:...` is a regular expression over the name, `id:...` one over the productid, `path:...` one
over the category's path, and `any:...` one over these and the description.
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
    "typo of a word that exists": """
        conditoner = conditioner | walking cow = name:wa?lking cow | submersible pump = name:su[bm]mersibb?le | submersibble = name:su[bm]mersibb?le
        jewelry box = vanity box | shrit = shirt | shrits for men = shirt, men | tshrit = t-shirt | sheos = any shoes | jaens = jeans | dreses = dress
        kurtha = kurta | leggins = leggings | nekties = necktie | sweter = sweater | jackit = jacket | sandels = sandals | wach = watch
        lether belt = leather, belt | dimond ring = diamond, ring | fastrak watch = name:fastrack, watch | titn watch = name:titan, watch
        vaccum bottle = name:vacuum bottle | sun shad = name:sun shade | clutchs = clutch | bellie = ballerinas | perl ring = pearl, ring
        neklace tie = name:neck ?tie | brasslet = bracelet | bed shet = bedsheet
    """,
    "several words with typos": """
        franc bela watch = franck bella, watch | alan soly dress = allen solly, dress | karatcarft dimond rng = karatcraft, diamond, ring
        unted colors of beneton = benetton | round nek sweter = round neck, sweater | cotn bedshet = cotton, bedsheet | runing shose = running shoes
        ceramik cofee mug = ceramic, mug | slim fit jens = slim, jeans | wireles motion senser = name:wireless motion sensor
        temperd glas = screen guard | batery chargr = charger | golf bals = golf ball | girls drees = girls, dress | womens legings = women, leggings
        mens nektie = men, necktie | kids runing shoes = running shoes, kids | aviater sunglases = aviator, sunglasses | boys swetar = boys, sweater
    """,
    "beginning of a number": """
        cas-w = name:cas-w-13 | mn 110 = name:mn 110 | st38 = name:st381 | fb12 = name:fb12 | dw1004 = name:dw1004 | wy16 = name:wy16 | 8502 = name:8502
        c3030 = name:c3030pp05 | ak2414 = name:ak2414 | bnc-0 = name:bnc-0 | bnc 179 = name:bnc-179 | bnc179 = name:bnc-179 | cau1116 = name:cau1116
        ab011010 = name:ab011010 | r88511 = name:r8851116001 | lp-1008 = name:lp-1008 | lp1008 = name:lp-1008 | 1070b = name:1070blk | iw-005 = name:iw-005
        iw005fk = name:iw-005-fk | pfbk = name:pfbk612 | msfr190 = name:msfr190 | msfr19001b = name:msfr190-01b | sw-125 = name:sw-125 | sw125 watch = name:sw-125
        RNGE88FQ = id:^RNGE88FQ | shoeg5xh = id:^SHOEG5XH | cltehe9fs4ucydgh = id:^CLTEHE9FS4UCYDGH | ktaehet = id:^KTAEHET | colat_m = name:colat_m
        co6394 = name:co6394a1 | dmk-0 = name:dmk-0 | dg0939 red = name:dg0939-red
    """,
    "size and material": """
        king size bedsheet = name:king sized, bedsheet | size 5 skates = skates, name:size 5 | skates size 4.5 = skates, name:size 4.5 | 350ml bottle = name:350 ml
        350 ml bottle = name:350 ml | 250ml cleaner = name:250 ml | 14k ring = ring, name:14 ?k | 18k gold ring = ring, 18 k, gold | pack of 3 watch = name:pack of 3, watch
        3/4 sleeve top = name:3/4 sleeve, top | v neck sweater = name:v-neck, sweater | vneck sweater = name:v-neck, sweater | sleeve less top = sleeveless, top
        skinny jeans = name:skinny, jeans | denim shirt = name:denim.* shirt | canvas shoes = name:canvas, any shoes | purple watch = name:purple, watch
        yellow watch = name:yellow, watch | floral print top = name:floral print, top | silk potli = name:silk.* potli | cotton towel = cotton, towel
        solid wood display unit = name:solid wood display unit | rubber dog toy = name:rubber.* dog | ceramic mug = ceramic, mug | a5 notebook = name:a5 notebook
        emerald ring = name:emerald, ring | viscose stole = name:viscose, stole | leather mens belt = leather, men, belt | eyelet curtain = name:eyelet, curtain
        solid mens shirt = name:solid, men, shirt | long sleeve shirt men = shirt, men
    """,
    "plural and possessive traps": """
        tie = name:neck ?ties? | ties for men = necktie, men | canvas = name:canvas | womens' tops = women, top | mens’ shirts = men, shirt | girls' dresses = girls, dress
        baby's towel = baby, towel | boy sweater = boys, sweater | dog's shampoo = dog shampoo | species sweater = name:species, sweater | scarf = stole
        scarves = stole | diaries = diary | shoe = any shoes | shorts for women = shorts, women | glass jug = jug | ladies bellies = ballerinas
        accessory for mobile = mobile accessories | ladies' boots = name:ladies boots | kid clothes = kids, clothing | neckties combo = necktie
        bunch of rings = ring | toys = toy | mobile charger = charger
    """,
    "stop words that name": """
        just in time dress = name:just in time | for kids dress = name:^for kids | the cranberry club = name:cranberry club | kids on board dress = name:kids on board
        life by shoppers stop = name:life by shoppers stop | he & she watch = name:he & she | now watch = name:^now, watch | something for my dog = name:\\bdog\\b
        the board game = board game | towel for the baby = baby, towel | charger for the car = car charger | a cover for my ipad = ipad cover
        watch of disney = disney, watch | dress for a girl = girls, dress | shirt for him = shirt | ring for her = ring | gift for men watch = watch, men
        is there a mug = mug | looking for boots = boots | i want jeans = jeans
    """,
    "unrelated word": """
        party shirt = name:party shirt | shift dress = name:shift dress | cape sleeve top = name:cape, top | cap = name:cap | bear = name:bear | heart umbrella = name:heart, umbrella
        mint conditioner = name:mint, conditioner | rose plant = name:rose.* plant | gold ring = gold, ring | golf ball = golf ball | paint bottle = name:paint bottle
        cow = name:cow | bee conditioner = name:bees, conditioner | stole = stole | tea tree conditioner = name:tea tree | band notebook = name:band.* notebook
        net lehenga = name:net.* lehenga | coin bank = name:coin bank | cargo = cargos | mat = bath mat | mass gainer = name:gainers | sound mixer = name:sound mixer
    """,
    "another word for it": """
        ladies watch = watch, women | gents watches = watch, men | watch for gents = watch, men | ladies shoes = any shoes, women | ladies top = top, women
        phone charger = charger | cell phone charger = charger | phone pouch = pouch | mobile phone pouch = pouch | smartphone pouch = pouch
        phone accessories = mobile accessories | girls frock = dress, girls | frock = dress, girls | tee = t-shirt | tees for women = t-shirt, women
        trackpants = track pants | jegging = leggings | nighties = nightdress | pullover = name:sweater, path:pullovers | bellies = ballerinas
        belly shoes = ballerinas | sofa = sofa bed | futon = sofa bed | oven = microwave | tyre cleaner = name:tire cleaner | tire cleaner = name:tire cleaner
        makeup box = vanity box | vanity case = vanity box | room freshener = air freshener | cushions = cushion cover | duvet = duvet cover
        statue = showpiece | sport shoes = sports shoes | kids dresses = kids, dress | children sweater = kids, sweater | kids shoes = any shoes, kids
        led lights = bulb | potli bag = name:potli | paperweight = name:paper weight | coin box = name:coin bank | diaries and notebooks = path:diaries & notebooks
        mobile back cover = path:mobile body panels | ladies purse = clutch | ladies clutch bag = clutch
    """,
    "as it comes to mind": """
        gold rings for women = gold, ring | diamond ring for men = diamond, ring | silver ring girls = silver, ring | ring gold 22k = ring, name:22 ?k
        18kt gold ring = ring, 18 k, gold | womens watch analog = women, watch, analog | black digital watch = name:black, digital, watch
        sports watches boys = name:sport, watch, boys | wrist watch for men = watch, men | mens wristwatch = watch, men
        pillow for bed = pillow | sleeping pillows = pillow | bath towel baby = baby, towel | door curtain = curtain | curtains for window = curtain
        double bed sheet = bedsheet, double | cotton bed sheets double = bedsheet, double, cotton | coffee cup = mug | tea mugs = mug | ceramic cups = mug
        music mug = name:mug, name:music | i love mug = name:love, mug | spiral notebooks = name:spiral, notebook | water bottle school = bottle
        waterbottle = path:water bottles | usb charger = charger | battery charger for mobile = charger | charger adapter = charger | lg oven = lg, microwave
        skate shoes = skates | batting pads = cricket pads | batting gloves = cricket gloves | cricket pad = cricket pads | golf balls size 4 = golf ball
        shampoo for dogs = dog shampoo | pet shampoo = dog shampoo | dog toys = name:toy for dog | toy for dog = name:toy for dog
        protein powder = path:protein | hair conditioners = conditioner | conditioner for hair = conditioner | bath soap = soap | aroma oil = path:aroma oil
        air fresheners for home = air freshener | artificial plants = name:artificial plant | flower pot = name:plant.*pot | crystal paperweights = name:paper weight
        ladies kurta = kurta, women | anarkali = name:anarkali | kurtis for women = kurti | long kurta women = kurta | burqa = path:burqas | abayas = path:abayas
        lehnga choli = name:lehenga | maternity dresses = name:maternity | night suits = pyjama | thermal wear = path:thermals | pyjama set girls = name:pyjama set, girls
        mens waistcoats = men, waistcoat | waistcoat women = women, waistcoat | cargo pants = cargos | wind cheater = path:windcheaters | hoodies = any:hood
        party tops = name:party, top | office shirt = formal shirt | formal tops women = name:formal, top | blue jeans men = jeans, men | solid t shirt = name:solid.*t-shirt
        polo t-shirts = path:polos & t-shirts | swim shorts women = name:swim shorts | gym shorts = name:gym shorts | cycling short = name:cycling shorts
    """,
    "brand, size and model as they are typed": """
        titan watches for men = name:titan, watch, men | tag heuer watch = name:tag heuer | disney watch kids = disney, watch | skmei watches men = skmei, watch, men
        skmei ad1031 black = name:ad1031-black | cas w 13 = name:cas-w-13 | cs 2001 = name:cs-2001 | CS2001 = name:cs-2001 | fb0128 = name:fb0128
        titan 1639sl03 = name:1639sl03 | 8503b watch = name:8503b | fastrack 38015 = name:38015pl01 | PK504 watch = name:pk_504 | rw38 = name:rw38 | g 729 = name:g 729
        van heusen shirts = van heusen, shirt | raymond waistcoats = name:raymond | crocs sandals = crocs, sandals | allen solly girls dress = allen solly, girls, dress
        benetton sweater women = benetton, sweater, women | roadster cardigan = roadster, name:cardigan | lee sweaters mens = lee, sweater | wrangler jeans for men = wrangler, jeans
        dlink dap 1320 = name:dap1320 | d link = d-link | q and q watch = q&q | qq watch = q&q | dove shampoo conditioner = dove, conditioner | tresemme = tressemme
        asics gel = name:asics gel | gel kayano 22 = name:kayano | bft 9w bulb = bft, 9 w | led bulb 6w = led, bulb, name:6 w | blackberry 8520 = name:8520
        nokia lumia back panel = name:lumia | sony xperia pouch = name:pouch for sony | ipad case = ipad cover | maruti alto sun shade = name:\\balto\\b
        SHOEG7NXNBF9PPJV = id:^SHOEG7NXNBF9PPJV$ | 350 ml = name:350 ml | 22 k ring = name:22 k ring | size 4 golf ball = name:size: 4 | 105key keyboard = name:105key
    """,
    "with slips": """
        ladis watch = watch, women | wimen top = top, women | womans watch = watch, women | mens ties = men, necktie | girl dreses = girls, dress | kurtees = kurti
        micro wave = microwave | microvave oven = microwave | umberella = umbrella | keyborad = keyboard | curtens = curtain | leggins women = leggings
        tempred glass = screen guard | pilows = pillow | braclets = bracelet | ballarinas = ballerinas | sterlin silver = sterling silver | diamnod rings = diamond, ring
        cofee mugs = mug | conditoners = conditioner | air freshner = air freshener | note book a5 = name:a5 notebook | dungree = name:dungaree | swimsuite = swimsuit
        sunglases men = sunglasses | wrangler jens = wrangler, jeans | casual shoos = any shoes | lofers = loafers | bed shets = bedsheet
        t shrit women = t-shirt, women | sweat shrit = sweatshirt | golf umbrela = umbrella | crickt gloves = cricket gloves | shwpiece = showpiece
    """,
    "what descriptions say": """
        cotton shirt = shirt, any:cotton | cotton tops women = top, women, any:cotton | cotton dress = dress, any:cotton | leather boots = boots, any:leather
        black boots women = boots, women, any:black | brown boots = boots, any:brown | white top = top, any:white | blue top = top, any:blue | red dress girls = dress, girls, any:red
        steel bottle = bottle, any:steel | steel watch = watch, any:steel | leather watch = watch, any:leather
        black shirt men = shirt, men, any:black | polyester top = top, any:polyester | cotton kurta = kurta, any:cotton | slim shirt = shirt, any:slim
        black shorts = shorts, any:black | gold watch = watch, any:gold | cotton night suit = pyjama, any:cotton | party dress girls = dress, girls, any:party
        white gold diamond ring = ring, any:white gold, any:diamond | cotton = any:cotton | black = any:black | leather = any:leather
        black leather boots = boots, any:black, any:leather | casual boots women = boots, women, any:casual
    """,
    "of the issue": """
        watches = watch | womens shoes = women, any shoes | mens jeans = men, jeans | t-shirts = t-shirt | bed sheet = bedsheet | bedsheet = bedsheet
        coffee mugs = mug | iphone 5 cover = name:covers?\\b
    """,
    "a kind and its size": """
        boots size 8 = boots | size 8 boots = boots | boots size = boots | ring size = ring | jeans size 32 = jeans | mug size = mug | loafers 9 = loafers
        skates 8 = skates | clutch size 5 = clutch | leggings size 28 = leggings | sandals size 6 = sandals | heels v = heels | womens boots size 7 = boots, women
        fab home decor = name:fabhomedecor | fab home decor sofa = name:fabhomedecor
    """,
}

QUERIES = tuple(
    Query(group, text.strip(), tuple(concept.strip() for concept in concepts.split(",")))
    for group, lines in _GROUPS.items()
    for line in lines.strip().splitlines()
    for text, _, concepts in (pair.partition("=") for pair in line.split("|"))
)
