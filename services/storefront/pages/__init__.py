"""The pages: one module per place in the shop. Each reads a form, asks the services, renders a template."""

from services.storefront.pages.account import account
from services.storefront.pages.auth import auth
from services.storefront.pages.basket import basket
from services.storefront.pages.checkout import checkout
from services.storefront.pages.codes import codes
from services.storefront.pages.currency import currency
from services.storefront.pages.desk import (
    account_emails,
    archive,
    audit,
    bulk,
    categories,
    customer_files,
    customers,
    desk,
    drafts,
    emails,
    failures,
    guests,
    imports,
    labels,
    margin,
    new_customers,
    notes,
    orders,
    parcels,
    prices,
    product_types,
    products,
    refunds,
    returns,
    sales,
    search,
    staff,
    stall_days,
    stock,
    stock_value,
    supplier_deliveries,
    terms,
    variants,
)
from services.storefront.pages.desk import (
    gift_cards as desk_gift_cards,
)
from services.storefront.pages.desk import (
    settings as desk_settings,
)
from services.storefront.pages.device import device
from services.storefront.pages.gift_cards import gift_cards
from services.storefront.pages.installable import installable
from services.storefront.pages.kept_categories import kept_categories
from services.storefront.pages.language import language
from services.storefront.pages.mailbox import mailbox
from services.storefront.pages.orders import orders as own_orders
from services.storefront.pages.payment import payment
from services.storefront.pages.pictures import pictures
from services.storefront.pages.sandbox_payment import sandbox_payment
from services.storefront.pages.shop import shop
from services.storefront.pages.stall import stall, stall_device
from services.storefront.pages.stock_alerts import stock_alerts
from services.storefront.pages.wishes import wishes

BLUEPRINTS = (
    shop,
    pictures,
    currency,
    language,
    installable,
    device,
    stall,
    stall_device,
    kept_categories,
    basket,
    checkout,
    codes,
    payment,
    sandbox_payment,
    gift_cards,
    own_orders,
    auth,
    account,
    wishes,
    stock_alerts,
    mailbox,
    desk,
)
DESK = (
    archive,
    sales,
    margin,
    new_customers,
    orders,
    parcels,
    refunds,
    labels,
    returns,
    products,
    bulk,
    variants,
    prices,
    stock,
    stock_value,
    stall_days,
    supplier_deliveries,
    product_types,
    categories,
    search,
    terms,
    desk_gift_cards,
    desk_settings,
    imports,
    notes,
    drafts,
    emails,
    customer_files,
    customers,
    account_emails,
    guests,
    failures,
    staff,
    audit,
)

__all__ = ["BLUEPRINTS", "DESK"]
