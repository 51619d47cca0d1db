"""Periods, sums by currency, CSV and charts of reports."""

from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from services.orders.rules.charts import Bar, bar_chart
from services.orders.rules.periods import (
    Span,
    closed_period,
    coarsest,
    label,
    months_between,
    recently_ended,
    span,
)
from services.orders.rules.reports import as_csv, best_sellers, difference, sales_report
from shared.clock import parse
from shared.errors import Invalid
from shared.money import money


def test_dates_at_the_ends_of_the_calendar_are_refused() -> None:
    for edge in ("0001", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-01:00"):
        with pytest.raises(Invalid):
            span(None, edge)
    with pytest.raises(Invalid):
        parse("0001-01-01T00:00:00+23:00")


def test_periods() -> None:
    assert [label(key) for key in ([], [2026], [2026, 1], [2026, 1, 31], [2026, 1, 31, 13])] == [
        "total",
        "2026",
        "2026-01",
        "2026-01-31",
        "2026-01-31T13",
    ]
    found = span("2026-01", "2026-03-01")
    assert found == Span(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))
    assert found.first_key() == [2026, 1, 1, 0, 0, 0]
    assert found.last_key() == [2026, 2, 28, 23, 59, 59, {}]
    assert [
        coarsest(span(*edges))
        for edges in ((None, None), ("2025", "2026"), ("2025-01", "2026-02"), ("2026-01-02", None))
    ] == [
        "all",
        "year",
        "month",
        "day",
    ]
    assert [part.as_text()[0][:10] for part in months_between(span("2025-12-15", "2026-02-02"))] == [
        "2025-12-15",
        "2026-01-01",
        "2026-02-01",
    ]
    assert closed_period("month", "2026-12").end == datetime(2027, 1, 1, tzinfo=UTC)
    assert recently_ended(datetime(2026, 3, 1, 0, 10, tzinfo=UTC), 2) == [
        ("day", "2026-02-27"),
        ("day", "2026-02-28"),
        ("month", "2026-02"),
    ]
    for wrong in (("2026-02", "2026-01"), ("yesterday", None), ("2026-13", None), ("9999-12-31", None)):
        with pytest.raises(Invalid):
            span(*wrong)
    with pytest.raises(Invalid):
        coarsest(span("2026-01-01T10:00:00Z", None))


def test_reports_keep_currencies_apart() -> None:
    rows = [
        {"key": [2026, 1], "value": {"GBP": [2, 5, 300, 100], "USD": [1, 1, 50, 0]}},
        {"key": [2026, 2], "value": {"GBP": [1, 1, 10, 0]}},
    ]
    report = sales_report(rows)
    assert report["total"] is None
    assert [(group["currency"], group["total"]["net"]["amount"]) for group in report["groups"]] == [
        ("GBP", 210),
        ("USD", 50),
    ]
    pounds = sales_report(rows, "GBP")
    assert [row["period"] for row in pounds["rows"]] == ["2026-01", "2026-02"]
    assert pounds["total"]["orders"] == 3
    assert sales_report([], "EUR")["total"]["gross"] == {"amount": 0, "currency": "EUR"}
    assert difference(report["groups"], report["groups"]) == []
    assert difference(pounds["groups"], report["groups"])[0]["gross"] == {"amount": 50, "currency": "USD"}


def test_best_sellers_add_up_what_is_one_product() -> None:
    rows = [
        {"key": ["day", 2026, 1, 1, "GBP", "tea", "Tea", ""], "value": [3, 300]},
        {"key": ["day", 2026, 1, 2, "GBP", "tea", "Green tea", ""], "value": [2, 250]},
        {"key": ["day", 2026, 1, 2, "GBP", "pot", "Pot", ""], "value": [4, 900]},
        {"key": ["day", 2026, 1, 2, "GBP", "back", "Sent back", ""], "value": [0, 0]},
    ]
    found = best_sellers(rows, 10)
    assert [(row["productid"], row["name"], row["units"], row["revenue"]["amount"]) for row in found] == [
        ("tea", "Green tea", 5, 550),
        ("pot", "Pot", 4, 900),
    ]


def test_csv_is_for_people_and_runs_no_formulas() -> None:
    text = as_csv(
        [
            {"name": "=HYPERLINK()", "units": 2, "revenue": money(-105, "GBP")},
            {"name": "a,b", "units": 1, "revenue": money(7, "JPY")},
        ]
    )
    assert text == 'name,units,revenue,currency\r\n\'=HYPERLINK(),2,-1.05,GBP\r\n"a,b",1,7,JPY\r\n'


def test_charts_are_wellformed_and_escaped() -> None:
    picture = ElementTree.fromstring(bar_chart("Net <sales>", [Bar("a&b", 3.0, "<3>"), Bar("c", 0, "none")]))
    assert picture.tag.endswith("svg")
    assert len([part for part in picture if part.tag.endswith("rect")]) == 3
    assert ElementTree.fromstring(bar_chart("Empty", [])) is not None
    assert "Tea pot" in bar_chart("Names", [Bar("Tea\x0b pot", 1.0, "\x00")])
    assert ElementTree.fromstring(bar_chart("Names", [Bar("Tea\x0b pot", 1.0, "\x00\uffff")])) is not None
