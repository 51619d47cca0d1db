"""A person with a browser that has no JavaScript: cookies, links, forms, and the page's text."""

import http.cookiejar
import os
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, field
from html.parser import HTMLParser

from tests.patience import patient

LOADED_AGAIN_FOR = 30.0
"""Seconds for which a page is loaded again under the rates of a plan (`tests.throttled`), as a person does who is asked to come back."""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Form:
    action: str
    method: str
    kind: str
    values: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    page: str = ""


@dataclass
class Page:
    """An answer, taken apart."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    forms: list[Form] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)
    inline: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    text: str = ""

    @property
    def status_code(self) -> int:
        return self.status

    @property
    def path(self) -> str:
        parts = urllib.parse.urlsplit(self.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def form(self, action: str) -> Form:
        """The first form that goes to an address beginning with `action`."""
        found = next((each for each in self.forms if each.action.startswith(action)), None)
        assert found is not None, (
            f"no form to {action} on {self.url}, only {[each.action for each in self.forms]}\n{self.text[:600]}"
        )
        return found

    def link(self, words: str) -> str:
        found = next((href for href, text in self.links if words in text), None)
        assert found is not None, f"no link {words!r} on {self.url}: {self.links}"
        return found


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page, self.words = page, []
        self.form: Form | None = None
        self.link: list | None = None
        self.select = self.area = self.option = None
        self.skip = 0
        self.elsewhere: dict[str, list[dict]] = {}
        """Inputs outside of their form, by its id; here they come before it."""

    def handle_starttag(self, tag: str, attrs: list) -> None:
        got = dict(attrs)
        self.page.inline += [f"{tag} {name}" for name in got if name == "style" or name.startswith("on")]
        if "id" in got:
            self.page.ids.append(got["id"])
        if tag in ("script", "style"):
            self.skip += 1
            if tag == "style" or "src" not in got:
                self.page.inline.append(tag)
        for name in ("src", "href"):
            if tag in ("script", "link", "img", "use") and name in got:
                self.page.sources.append(got[name])
        if tag == "a" and "href" in got:
            self.link = [got["href"], ""]
        if tag == "form":
            self.form = Form(
                got.get("action", ""),
                got.get("method", "get").lower(),
                got.get("enctype", ""),
                page=self.page.url,
            )
            self.page.forms.append(self.form)
            for each in self.elsewhere.pop(got.get("id", ""), []):
                self._control("input", each)
        if self.form is None and "form" in got:
            self.elsewhere.setdefault(got["form"], []).append(got)
        if self.form is not None:
            self._control(tag, got)

    def _control(self, tag: str, got: dict) -> None:
        name = got.get("name")
        if name:
            self.form.names.add(name)
        if tag == "input" and name:
            kind = got.get("type", "text")
            if kind == "radio":
                self.page.choices.setdefault(name, []).append(got.get("value", ""))
            if kind not in ("checkbox", "radio", "file") or "checked" in got:
                self.form.values[name] = got.get("value", "")
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select and ("selected" in got or self.select not in self.form.values):
            self.form.values[self.select] = got.get("value", "")
        elif tag == "textarea":
            self.area = name
            self.form.values[name] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.skip -= 1
        if tag == "a" and self.link:
            self.page.links.append((self.link[0], " ".join(self.link[1].split())))
            self.link = None
        if tag == "form":
            self.form = None
        if tag == "select":
            self.select = None
        if tag == "textarea":
            self.area = None

    def handle_data(self, data: str) -> None:
        if self.skip:
            return
        if self.area and self.form:
            self.form.values[self.area] += data.removeprefix("\n")
            return
        self.words.append(data)
        if self.link:
            self.link[1] += data


class _Stay(urllib.request.HTTPRedirectHandler):
    """Takes a redirection for the answer."""

    def redirect_request(self, *_: object) -> None:
        return None


def _opened(opener: urllib.request.OpenerDirector, request: urllib.request.Request) -> Page:
    try:
        with opener.open(request, timeout=20) as answer:
            return Page(answer.url, answer.status, dict(answer.headers), answer.read())
    except urllib.error.HTTPError as error:
        return Page(error.url, error.code, dict(error.headers), error.read())


class Visitor:
    """Walks the shop at `base`; `.page` is where it is. Says with each form where it comes from, as browsers do."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self._staying = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar), _Stay())
        self.page: Page | None = None

    def get(self, path: str, **headers: str) -> Page:
        return self.send("GET", path, None, headers)

    def get_patiently(self, path: str) -> Page:
        """The page, asked again while it is a 503 that says when to come back, as those of a busy database are."""
        return patient(lambda: self.get(path))

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str] | None = None,
        *,
        follow: bool = True,
    ) -> Page:
        url = (
            urllib.parse.urljoin(self.page.url if self.page else self.base, path)
            if path.startswith("?")
            else urllib.parse.urljoin(self.base, path)
        )
        headers = ({"Origin": self.base} if method == "POST" else {}) | (headers or {})
        opener = self._opener if follow else self._staying

        def opened() -> Page:
            return _opened(opener, urllib.request.Request(url, body, headers, method=method))

        is_loaded_again = method == "GET" and bool(os.environ.get("COUCH_PLAN"))
        page = patient(opened, LOADED_AGAIN_FOR) if is_loaded_again else opened()
        if "html" in page.headers.get("Content-Type", "") and "Content-Encoding" not in page.headers:
            reader = _Reader(page)
            reader.feed(page.body.decode())
            page.text = " ".join(" ".join(reader.words).split())
        self.page = page
        return page

    def submit(self, action: str, **values: str) -> Page:
        """Fills in and sends the form that goes to `action`; a name the form does not have is a mistake of the test."""
        assert self.page is not None
        form = self.page.form(action)
        assert set(values) <= form.names, f"the form has {sorted(form.names)}"
        return self.send_form(form, {**form.values, **values})

    def send_form(self, form: Form, values: dict[str, str], *, follow: bool = True) -> Page:
        """Sends a form as a browser does: with the address of the page it is on."""
        if form.method == "get":
            return self.get(f"{form.action}?{urllib.parse.urlencode(values)}")
        headers = {"Content-Type": "application/x-www-form-urlencoded", **self._from(form)}
        body = urllib.parse.urlencode(values).encode()
        return self.send("POST", form.action, body, headers, follow=follow)

    @staticmethod
    def _from(form: Form) -> dict[str, str]:
        return {"Referer": form.page, "Sec-Fetch-Site": "same-origin"}

    def upload(
        self, action: str, name: str, data: bytes, /, *more: bytes, filename: str = "file", **values: str
    ) -> Page:
        """Fills in and sends a form with files of one field, as a browser does whatever they are."""
        form, edge = self.page.form(action), uuid.uuid4().hex
        assert form.kind == "multipart/form-data"
        assert {name, *values} <= form.names, f"the form has {sorted(form.names)}"
        parts = [
            f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in {**form.values, **values}.items()
        ]
        head = f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        sent = [head.encode() + data + b"\r\n" for data in (data, *more)]
        body = b"".join([*parts, *sent, f"--{edge}--\r\n".encode()])
        headers = {"Content-Type": f"multipart/form-data; boundary={edge}", **self._from(form)}
        return self.send("POST", form.action, body, headers)

    def cookie(self, name: str) -> http.cookiejar.Cookie | None:
        return next((each for each in self.jar if each.name == name), None)
