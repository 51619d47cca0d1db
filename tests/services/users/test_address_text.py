"""An address is printed on a label and put into e-mails: it is lines of text and nothing else."""

import pytest


@pytest.mark.parametrize(
    "sent", ["1 Mill Lane\nYork YO1 7PR", "1 Mill Lane\r\nYork YO1 7PR", "1 Mill Lane\rYork YO1 7PR"]
)
def test_line_ends_are_kept_as_line_feeds(person, sent):
    answer = person().post("/v1/users/me/addresses", {"name": "Home", "address": sent})
    assert (answer.status_code, answer.json()["address"]) == (201, "1 Mill Lane\nYork YO1 7PR")


@pytest.mark.parametrize(
    "character",
    [
        "\x00",
        "\x07",
        "\x08",
        "\t",
        "\x0b",
        "\x0c",
        "\x1b",
        "\x7f",
        "\x85",
        "\x9b",
        "\u2028",
        "\u202e",
        "\u2066",
    ],
)
@pytest.mark.parametrize("text", ["1 Mill{}Lane", "{}1 Mill Lane", "1 Mill Lane{}"])
def test_control_characters_are_refused(person, text, character):
    answer = person().post("/v1/users/me/addresses", {"name": "Home", "address": text.format(character)})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["address"])
