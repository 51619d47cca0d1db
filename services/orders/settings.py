"""Settings of the orders service, one line per environment variable; the worker reads the same ones."""

from collections.abc import Iterator
from dataclasses import dataclass

from shared.settings import DatabaseSettings, setting
from shared.translation import SOURCE_LANGUAGE

SANDBOX, STRIPE, PAYPAL, MANUAL = "sandbox", "stripe", "paypal", "manual"
EASYPOST = "easypost"
TABLE, REFUSE = "table", "refuse"
ORDER, DISPATCH = "order", "dispatch"
PARTS, TOGETHER = "parts", "whole"


@dataclass(frozen=True, kw_only=True)
class Settings(DatabaseSettings):
    """What the orders service and its jobs read."""

    products_url: str = setting(
        "PRODUCTS_URL", help="the products service", local_default="http://127.0.0.1:8002"
    )
    storefront_url: str = setting(
        "STOREFRONT_URL", help="where links in e-mails lead", local_default="http://127.0.0.1:8000"
    )
    smtp_url: str = setting(
        "SMTP_URL", "", "`smtp://user:password@host:587` or `smtps://...`; wins over MAIL_DIR", secret=True
    )
    mail_dir: str = setting("MAIL_DIR", "", "Maildir that mail is written to instead of being sent")
    guest_mails_per_hour: int = setting(
        "GUEST_MAILS_PER_HOUR",
        20,
        "e-mails about guests' orders that one address can be made to get in an hour",
    )
    guest_orders_with_mail: int = setting(
        "GUEST_ORDERS_WITH_MAIL",
        30,
        "guests' orders in an hour from one network that send e-mails",
        local_default=100_000,
    )
    payment_providers: tuple[str, ...] = setting(
        "PAYMENT_PROVIDERS",
        help="comma-separated: `sandbox` (pays nothing, for trying out), `stripe`, `paypal`",
        local_default=(SANDBOX,),
        choices=(SANDBOX, STRIPE, PAYPAL),
    )
    sandbox_webhook_secret: str = setting(
        "SANDBOX_WEBHOOK_SECRET",
        "",
        "signs the sandbox provider's webhooks; empty refuses them",
        secret=True,
        local_default="local-sandbox-webhook-secret",
    )
    stripe_url: str = setting("STRIPE_URL", "https://api.stripe.com", "the Stripe API")
    stripe_api_key: str = setting("STRIPE_API_KEY", "", "needed with the provider `stripe`", secret=True)
    stripe_webhook_secrets: tuple[str, ...] = setting(
        "STRIPE_WEBHOOK_SECRET",
        (),
        "checks Stripe's webhook signatures; two, comma-separated, while the first is being replaced",
        secret=True,
    )
    paypal_url: str = setting("PAYPAL_URL", "https://api-m.paypal.com", "the PayPal API")
    paypal_client_id: str = setting("PAYPAL_CLIENT_ID", "", "needed with the provider `paypal`")
    paypal_secret: str = setting("PAYPAL_SECRET", "", "needed with the provider `paypal`", secret=True)
    paypal_webhook_id: str = setting(
        "PAYPAL_WEBHOOK_ID", "", "PayPal's id of your webhook; empty refuses its events"
    )
    payment_page_seconds: float = setting(
        "PAYMENT_PAGE_SECONDS",
        1800.0,
        "how long an order can be paid on the provider's page; Stripe takes 1800 to 74000",
    )
    payment_link_seconds: float = setting(
        "PAYMENT_LINK_SECONDS",
        72000.0,
        "how long an order that staff placed can be paid by the link in its e-mail; Stripe takes 1800 to 74000",
    )
    draft_days: int = setting(
        "DRAFT_DAYS", 30, "a draft order that nobody changes is removed after so many days"
    )
    given_up_days: int = setting(
        "GIVEN_UP_DAYS",
        400,
        "a checkout that ended without money is removed after so many days, not before 100; 0: never",
    )
    dead_letter_days: int = setting(
        "DEAD_LETTER_DAYS",
        400,
        "a job that failed for good is removed from the list after so many days, not before 100; 0: never",
    )
    report_days: int = setting(
        "REPORT_DAYS",
        90,
        "a report that somebody asked for is removed after so many days, and to whom the daily figures were sent; 0: never",
    )
    archive_dir: str = setting(
        "ARCHIVE_DIR",
        "",
        "folder that closed years are archived to from the desk: a volume that this service and the worker both have; empty: by command alone",
    )
    manual_discount_percent: int = setting(
        "MANUAL_DISCOUNT_PERCENT",
        20,
        "staff take so much off the goods of an order by hand at most, in percent; admins as much as they like",
    )
    capture_at: str = setting(
        "CAPTURE_AT",
        ORDER,
        "when money is taken that Stripe or PayPal pays: with the `order`, or as its parcels leave (`dispatch`), being only reserved until then",
        choices=(ORDER, DISPATCH),
    )
    stripe_multicapture: bool = setting(
        "STRIPE_MULTICAPTURE",
        False,
        "with `CAPTURE_AT=dispatch`: your Stripe account has multicapture, so that each parcel takes its share; otherwise the last one takes all",
    )
    rate_providers: tuple[str, ...] = setting(
        "RATE_PROVIDERS",
        (),
        "comma-separated, who shipping methods can ask for carriers' rates: `easypost`",
        choices=(EASYPOST,),
    )
    label_provider: str = setting(
        "LABEL_PROVIDER",
        "",
        "who sells labels for parcels, those that go out (at the desk) and those that come back: `easypost`; empty: nobody. Across a customs border goods need `customs.hs_code`, origin and weight, and the shop's settings `customs_signer`. The storefront has the same",
        choices=("", EASYPOST),
    )
    easypost_url: str = setting("EASYPOST_URL", "https://api.easypost.com", "the EasyPost API")
    easypost_api_key: str = setting(
        "EASYPOST_API_KEY", "", "needed with the rate or label provider `easypost`", secret=True
    )
    courier: str = setting(
        "COURIER",
        help="`sandbox` pretends to ship by itself; `manual` waits for people or webhooks",
        local_default=SANDBOX,
        choices=(SANDBOX, MANUAL),
    )
    courier_dispatch_seconds: float = setting(
        "COURIER_DISPATCH_SECONDS", 5.0, "the sandbox courier fetches a paid parcel after so many seconds"
    )
    courier_delivery_seconds: float = setting(
        "COURIER_DELIVERY_SECONDS", 10.0, "and delivers it so many seconds later"
    )
    backorder_dispatch: str = setting(
        "BACKORDER_DISPATCH",
        PARTS,
        "an order with goods that are still to come: its `parts` are sent as they are here, or the `whole` together",
        choices=(PARTS, TOGETHER),
    )
    courier_webhook_secret: str = setting(
        "COURIER_WEBHOOK_SECRET",
        "",
        "signs couriers' webhooks; empty refuses them",
        secret=True,
        local_default="local-courier-webhook-secret",
    )
    shop_country: str = setting(
        "SHOP_COUNTRY", "GB", "where the shop is, until the desk sets it: ISO 3166-1 alpha-2"
    )
    shop_name: str = setting(
        "SHOP_NAME", "Aisle", "until the desk sets it: the seller on invoices and in e-mails"
    )
    shop_address: str = setting(
        "SHOP_ADDRESS",
        "",
        "until the desk sets it: the seller's address on invoices and what else they must say, such as a VAT number, with "
        "semicolons between its lines; empty: the shop's country alone",
    )
    languages: tuple[str, ...] = setting(
        "LANGUAGES",
        (SOURCE_LANGUAGE,),
        "what e-mails and invoices are in, with commas (`en,de`), as the storefront's pages: the first unless the customer ordered in another",
    )
    delivery_per: str = setting(
        "DELIVERY_PER",
        "line",
        "until the desk writes shipping methods: a product's delivery charge counts per `line`, per `unit`, or only the `highest` of an order",
        choices=("line", "unit", "highest"),
    )
    free_delivery_from: int = setting(
        "FREE_DELIVERY_FROM", 0, "likewise: goods worth so many minor units are delivered free; 0: never"
    )
    tax_name: str = setting("TAX_NAME", "VAT", "until the desk writes tax rates: the name on the tax line")
    tax_basis_points: int = setting("TAX_BASIS_POINTS", 2000, "tax rate in hundredths of a percent")
    tax_included: bool = setting("TAX_INCLUDED", True, "prices hold the tax already; otherwise it is added")
    tax_provider: str = setting(
        "TAX_PROVIDER",
        TABLE,
        "who works tax out: the shop's own `table` of rates, or `stripe` (Stripe Tax, with STRIPE_API_KEY)",
        choices=(TABLE, STRIPE),
    )
    tax_fallback: str = setting(
        "TAX_FALLBACK",
        REFUSE,
        "while the tax provider does not answer: `refuse` quotes and orders, or take the `table`'s rates",
        choices=(REFUSE, TABLE),
    )
    stripe_tax_codes: tuple[str, ...] = setting(
        "STRIPE_TAX_CODES",
        (),
        "comma-separated, Stripe's code of each tax class: `books=txcd_35010000`; those of others are the account's own",
    )
    gift_card_days: int = setting(
        "GIFT_CARD_DAYS", 0, "until the desk sets it: gift cards can be spent for so many days; 0: for ever"
    )
    return_days: int = setting(
        "RETURN_DAYS",
        30,
        "until the desk sets it: goods can be sent back for so many days after they arrived; 0: for ever",
    )
    approve_returns: bool = setting(
        "APPROVE_RETURNS", False, "until the desk sets it: returns are approved as soon as they are requested"
    )
    refund_before_receipt: bool = setting(
        "REFUND_BEFORE_RECEIPT",
        False,
        "until the desk sets it: a return is paid back when it is approved, not when the goods are here",
    )
    gift_card_tries: int = setting(
        "GIFT_CARD_TRIES",
        20,
        "codes of gift cards that are none, in ten minutes from one network",
        local_default=100_000,
    )
    reservation_seconds: int = setting("RESERVATION_SECONDS", 3600, "how long unpaid goods stay reserved")
    attempt_seconds: float = setting(
        "ATTEMPT_SECONDS", 30.0, "a checkout without an outcome is reconciled after so many seconds"
    )
    webhook_tolerance_seconds: int = setting(
        "WEBHOOK_TOLERANCE_SECONDS", 300, "a webhook's timestamp may be so far from now"
    )

    def contradictions(self) -> Iterator[str]:
        yield from super().contradictions()
        if STRIPE in self.payment_providers and not self.stripe_api_key:
            yield "PAYMENT_PROVIDERS names `stripe`, and STRIPE_API_KEY is not set."
        if PAYPAL in self.payment_providers and not (self.paypal_client_id and self.paypal_secret):
            yield "PAYMENT_PROVIDERS names `paypal`, and PAYPAL_CLIENT_ID or PAYPAL_SECRET is not set."
        if EASYPOST in self.rate_providers and not self.easypost_api_key:
            yield "RATE_PROVIDERS names `easypost`, and EASYPOST_API_KEY is not set."
        if self.label_provider == EASYPOST and not self.easypost_api_key:
            yield "LABEL_PROVIDER is `easypost`, and EASYPOST_API_KEY is not set."
        if self.tax_provider == STRIPE and not self.stripe_api_key:
            yield "TAX_PROVIDER is `stripe`, and STRIPE_API_KEY is not set."
        if wrong := [pair for pair in self.stripe_tax_codes if not all(pair.partition("="))]:
            yield f"STRIPE_TAX_CODES has {wrong[0]!r}: write class=txcd_..."
        if not self.smtp_url and not self.mail_dir:
            yield "Neither SMTP_URL nor MAIL_DIR is set: the shop must be able to send e-mail."

    def warnings(self) -> Iterator[str]:
        if not self.local and SANDBOX in self.payment_providers:
            yield "PAYMENT_PROVIDERS names sandbox: its test tokens pay nothing for real goods"
        if STRIPE in self.payment_providers and not self.stripe_webhook_secrets:
            yield "STRIPE_WEBHOOK_SECRET is not set: payments of customers who do not come back are found by the sweep alone"
        if not self.local and self.courier == SANDBOX:
            yield "COURIER is sandbox: orders become dispatched and delivered although nobody carries them"
