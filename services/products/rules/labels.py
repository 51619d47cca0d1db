"""What filters and their values are called in another language: they are asked for by what they are in the shop's own."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.products.rules.facets import OPTIONS

LABELLED = ("colour", OPTIONS, "attributes.")


class Labels:
    """By language and text what most products call it."""

    def __init__(self, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self._labels: dict[str, dict[str, str]] = {}
        for row in sorted(rows, key=lambda row: row["value"]):
            language, text, label = row["key"]
            self._labels.setdefault(language, {})[text] = label

    def of(self, language: str) -> dict[str, str]:
        return self._labels.get(language, {})


def labelled(
    facets: Mapping[str, list[dict[str, Any]]], labels: Mapping[str, str], of_categories: Mapping[str, str]
) -> dict[str, list[dict[str, Any]]]:
    """The counted values, with a `label` where one is called something else."""
    known = {facet: labels for facet in facets if facet.startswith(LABELLED)} | {"category": of_categories}
    return {
        facet: [_with_label(each, known.get(facet, {})) for each in values]
        for facet, values in facets.items()
    }


def _with_label(counted: dict[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    label = labels.get(counted["value"])
    return {**counted, "label": label} if label else counted


def option_names(facets: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """What those facets that are options are called."""
    names = {facet: facet.removeprefix(OPTIONS) for facet in facets if facet.startswith(OPTIONS)}
    return {facet: labels[name] for facet, name in names.items() if name in labels}
