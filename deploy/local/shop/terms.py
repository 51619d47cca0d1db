"""How the sample shop delivers to two countries, the VAT of both, what is cheaper, and what else people call its goods."""

SHIPPING_METHODS = (
    {
        "id": "standard",
        "name": "Standard delivery",
        "position": 1,
        "zones": [{"country": "GB"}],
        "rate": "product",
        "min_days": 2,
        "max_days": 4,
    },
    {
        "id": "next-day",
        "name": "Next day",
        "position": 2,
        "zones": [{"country": "GB", "excluded_postcodes": ["BT", "IM", "JE", "GY"]}],
        "rate": "flat",
        "prices": {"GBP": 2995, "EUR": 3495},
        "min_days": 1,
        "max_days": 1,
    },
    {
        "id": "germany",
        "name": "Parcel to Germany",
        "position": 3,
        "zones": [{"country": "DE"}],
        "rate": "value",
        "bands": [
            {"from": 0, "price": {"amount": 995, "currency": "GBP"}},
            {"from": 10000, "price": {"amount": 495, "currency": "GBP"}},
            {"from": 0, "price": {"amount": 1145, "currency": "EUR"}},
        ],
        "free_from": {"GBP": 25000, "EUR": 29000},
        "min_days": 4,
        "max_days": 7,
    },
    {
        "id": "collect",
        "name": "Click and collect",
        "position": 4,
        "zones": [{"country": "GB"}],
        "rate": "flat",
        "prices": {"GBP": 0, "EUR": 0},
        "collect_from": "Aisle\n2 Mill Lane\nYork YO1 7PR",
    },
)
TAX_RATES = (
    {"country": "GB", "name": "VAT", "rate": 20},
    {"country": "DE", "name": "MwSt.", "rate": 19},
)
PROMOTIONS = (
    {
        "name": "Welcome: a tenth off",
        "codes": ["WELCOME10"],
        "actions": [{"kind": "percent", "basis_points": 1000}],
    },
)
"""By a code alone: one that applies by itself is asked for with every basket."""

SYNONYMS = {
    "shoes": ["footwear"],
    "trainers": ["footwear"],
    "sweater": ["jumper"],
    "rucksack": ["bag"],
    "backpack": ["bag"],
    "bike": ["cycling"],
    "teddy": ["bear"],
}
