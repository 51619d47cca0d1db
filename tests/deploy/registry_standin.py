"""A registry as distribution-spec 1.1 describes it, with the tokens of Docker's: each image is a list of platforms, read with a token of its own."""

import json
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def digest_of(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


class RegistryStandIn:
    """`images`: repository:tag to the bytes of its list. `asked`: what was read, with the token that was shown."""

    def __init__(self) -> None:
        self.images: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []
        self.lies: set[str] = set()
        """Images whose header names another digest than their content has."""
        self.busy = ""
        """An image that is asked for too often."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def push(self, name: str, build: int = 1) -> str:
        """A list of two platforms under this tag; its digest."""
        platforms = [
            {
                "mediaType": MANIFEST,
                "digest": digest_of(f"{name} {build} {machine}".encode()),
                "size": 100,
                "platform": {"architecture": machine, "os": "linux"},
            }
            for machine in ("amd64", "arm64")
        ]
        content = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": platforms}).encode()
        self.images[name] = content
        return digest_of(content)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def _handler(registry: RegistryStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
            if path == "/token":
                [scope] = query["scope"]
                assert query["service"] == ["the registry"]
                self.answer(200, {"token": f"for {scope}", "expires_in": 300})
                return
            repository, _, tag = path.removeprefix("/v2/").rpartition("/manifests/")
            self.manifest(repository, tag)

        def manifest(self, repository: str, tag: str) -> None:
            name, scope = f"{repository}:{tag}", f"repository:{repository}:pull"
            shown = self.headers.get("Authorization", "")
            if shown != f"Bearer for {scope}":
                challenge = f'Bearer realm="{registry.url}/token",service="the registry",scope="{scope}"'
                self.refuse(401, "UNAUTHORIZED", ("WWW-Authenticate", challenge))
                return
            registry.asked.append((name, shown))
            if name == registry.busy:
                self.refuse(429, "TOOMANYREQUESTS", ("Retry-After", "60"))
            elif name not in registry.images:
                self.refuse(404, "MANIFEST_UNKNOWN")
            else:
                self.list_of_platforms(name)

        def list_of_platforms(self, name: str) -> None:
            """Whoever does not take a list gets the manifest of one platform, as the specification wants it."""
            content = registry.images[name]
            if INDEX not in self.headers.get("Accept", ""):
                content = b'{"mediaType": "one platform"}'
            said = f"sha256:{'0' * 64}" if name in registry.lies else digest_of(content)
            self.answer(200, content, ("Docker-Content-Digest", said), ("Content-Type", INDEX))

        def refuse(self, status: int, code: str, *headers: tuple[str, str]) -> None:
            self.answer(status, {"errors": [{"code": code, "message": "it says", "detail": None}]}, *headers)

        def answer(self, status: int, body: Any, *headers: tuple[str, str]) -> None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in (("Content-Length", str(len(content))), *headers):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return Handler
