"""Templates are compiled for each language: its texts stand in them, and no language is drawn with another's."""

import pytest
from flask import Flask
from jinja2 import DictLoader

from services.storefront.app import create_app
from services.storefront.settings import Settings
from services.storefront.translation import FOLDER, activate, read_languages
from shared.settings import load

LANGUAGES = read_languages(["en", "de"], FOLDER)
TEMPLATES = {
    "page": "{% extends 'frame' %}{% import 'pieces' as ui %}{% block main %}{{ _('Log in') }} {{ ui.stock(3) }}{% endblock %}",
    "frame": "<title>{% trans %}Your <b>basket</b>{% endtrans %}</title>{% block main %}{% endblock %} {% include 'foot' %}",
    "pieces": "{% macro stock(left) %}{{ _('Only %(count)s left', count=left) }}{% endmacro %}",
    "foot": "{{ ngettext('%(num)s day', '%(num)s days', 2) }}",
}
IN_ENGLISH = "<title>Your <b>basket</b></title>Log in Only 3 left 2 days"
IN_GERMAN = "<title>Your <b>basket</b></title>Anmelden Nur noch 3 da 2 Tage"


@pytest.fixture
def app() -> Flask:
    app = create_app(load(Settings, {"AISLE_ENV": "local", "LANGUAGES": "en,de"}))
    app.jinja_env.loader = DictLoader(TEMPLATES)
    yield app
    activate(LANGUAGES["en"])


def drawn(app: Flask, language: str) -> str:
    activate(LANGUAGES[language])
    return app.jinja_env.get_template("page").render(autoescape=True)


def test_each_language_has_templates_of_its_own(app: Flask) -> None:
    for _ in range(2):
        assert drawn(app, "en") == IN_ENGLISH
        assert drawn(app, "de") == IN_GERMAN


def test_a_text_without_variables_stands_in_the_compiled_template(app: Flask) -> None:
    activate(LANGUAGES["de"])
    compiled = app.jinja_env.compile(
        "<p>{{ _('Log in') }}: {{ _('Hello, %(name)s', name=name) }}</p>", raw=True
    )
    assert "<p>Anmelden: " in compiled
    assert "Hello, %(name)s" in compiled


def test_variables_are_escaped_and_texts_are_not(app: Flask) -> None:
    activate(LANGUAGES["de"])
    app.jinja_env.loader.mapping["greeting.html"] = "{{ _('Hello, %(name)s', name=name) }} {{ _('10 %%') }}"
    text = app.jinja_env.get_template("greeting.html").render(name="<Ann>")
    assert text == "Guten Tag, &lt;Ann&gt; 10 %"


def test_a_template_that_was_drawn_knows_a_global_that_comes_later(app: Flask) -> None:
    app.jinja_env.loader = DictLoader({"page": "{{ greeting | default('-') }}"})
    assert drawn(app, "en") == "-"

    app.jinja_env.globals["greeting"] = "hello"

    assert drawn(app, "en") == "hello"
