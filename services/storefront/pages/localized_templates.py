"""Templates are compiled once for each language, with their texts in place: what has no variables costs a page nothing."""

from collections.abc import MutableMapping
from typing import Any

from flask.sansio.app import App
from flask.templating import Environment
from jinja2 import Template, nodes
from jinja2.environment import TemplateModule
from jinja2.runtime import Context
from jinja2.visitor import NodeTransformer

from services.storefront.translation import Language, active_language, template_gettext

_LOOK_UPS = frozenset({"_", "gettext"})


class LocalizedTemplate(Template):
    """A template whose macros, where others import them without their context, know the environment's globals alone."""

    def _get_default_module(self, ctx: Context | None = None) -> TemplateModule:
        """Jinja would compare all globals of both templates, name by name, at each import: they are the same."""
        return super()._get_default_module(None)


class LocalizedEnvironment(Environment):
    """The templates in the active language."""

    template_class = LocalizedTemplate

    def __init__(self, app: App, **options: Any) -> None:
        super().__init__(app, **options)
        self._language: Language | None = None
        self._in_languages: dict[str, LocalizedEnvironment] = {}

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """The dictionary itself where a template adds nothing: Jinja's chain of two would be walked through for each page."""
        return super().make_globals(d) if d else self.globals

    def _load_template(self, name: str, globals: MutableMapping[str, Any] | None) -> Template:
        language = active_language()
        if self._language is language:
            return super()._load_template(name, globals)
        return self._in(language)._load_template(name, globals)

    def _in(self, language: Language) -> "LocalizedEnvironment":
        """The same environment with a cache of its own; all know each other."""
        found = self._in_languages.get(language.code)
        if found is None:
            found = self.overlay()
            found._language = language
            self._in_languages[language.code] = found
        return found

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        _TextsInPlace().visit(tree)
        return tree


class _TextsInPlace(NodeTransformer):
    """Looks up, in the active language, each text that is written out in a template and has no variables."""

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        self.generic_visit(node)
        function, text = node.node, node.args[0] if len(node.args) == 1 else None
        is_look_up = isinstance(function, nodes.Name) and function.name in _LOOK_UPS
        if not is_look_up or not isinstance(text, nodes.Const) or node.kwargs or node.dyn_kwargs:
            return node
        return nodes.TemplateData(str(template_gettext(text.value)), lineno=node.lineno)
