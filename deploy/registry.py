"""The digest of an image's tag, asked of its registry: the OCI distribution API (opencontainers/distribution-spec 1.1), and the tokens
of Docker's registries (distribution.github.io/distribution/spec/auth/token).

No Docker is needed. The manifest itself is read and hashed: a digest that only a header says is never taken.
"""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import requests

DOCKER_HUB: Final = "https://registry-1.docker.io"
ACCEPTED: Final = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
"""The list of platforms before the manifest of one of them: what is pinned is for every machine."""
TIMEOUT_SECONDS: Final = 30
MAX_MANIFEST: Final = 4 * 1024 * 1024
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Image:
    """Where a name such as `redis:7.2.11-alpine` is: its registry's address, its repository there, its tag."""

    registry: str
    repository: str
    tag: str


def image(name: str, docker_hub: str = DOCKER_HUB) -> Image:
    """What Docker understands by a name. `docker_hub`: the address that is asked for names without a host."""
    path, _, tag = name.rpartition(":")
    host, slash, rest = path.partition("/")
    if slash and ("." in host or ":" in host or host == "localhost"):
        return Image(f"https://{host}", rest, tag)
    return Image(docker_hub.rstrip("/"), path if slash else f"library/{path}", tag)


@dataclass
class Registries:
    """`digest(name)` of any image that can be read without a password. Raises LookupError with what the registry said."""

    docker_hub: str = DOCKER_HUB
    """A mirror of Docker Hub may take its place."""
    session: requests.Session = field(default_factory=requests.Session)

    def digest(self, name: str) -> str:
        try:
            return self._digest(image(name, self.docker_hub))
        except (requests.RequestException, LookupError, ValueError) as error:
            raise LookupError(f"{name}: {error}") from error

    def _digest(self, wanted: Image) -> str:
        url = f"{wanted.registry}/v2/{wanted.repository}/manifests/{wanted.tag}"
        answer = self._manifest(url)
        if answer.status_code == 401:
            answer = self._manifest(url, self._token(answer.headers.get("WWW-Authenticate", "")))
        if answer.status_code != 200:
            raise LookupError(_refusal(answer))
        digest = f"sha256:{sha256(answer.content).hexdigest()}"
        said = answer.headers.get("Docker-Content-Digest", digest)
        if said != digest:
            raise LookupError(f"the registry calls it {said}, but what it sent is {digest}")
        return digest

    def _manifest(self, url: str, token: str = "") -> requests.Response:
        headers = {"Accept": ACCEPTED, **({"Authorization": f"Bearer {token}"} if token else {})}
        answer = self.session.get(url, headers=headers, timeout=TIMEOUT_SECONDS)
        if len(answer.content) > MAX_MANIFEST:
            raise LookupError(f"a manifest of {len(answer.content):,} bytes is none")
        return answer

    def _token(self, challenge: str) -> str:
        """An anonymous token for what the registry's 401 asks for."""
        scheme, _, parameters = challenge.partition(" ")
        asked = dict(_CHALLENGE.findall(parameters))
        if scheme.lower() != "bearer" or "realm" not in asked:
            raise LookupError("the registry wants a password")
        realm = asked.pop("realm")
        answer = self.session.get(realm, params=asked, timeout=TIMEOUT_SECONDS)
        if answer.status_code != 200:
            raise LookupError(f"no token of {realm}: {_refusal(answer)}")
        given = answer.json()
        token = given.get("token") or given.get("access_token")
        if not isinstance(token, str):
            raise LookupError(f"no token of {realm}")
        return token


def _refusal(answer: requests.Response) -> str:
    """`404 MANIFEST_UNKNOWN: manifest unknown`."""
    try:
        said = "; ".join(f"{each['code']}: {each.get('message', '')}" for each in answer.json()["errors"])
    except (ValueError, KeyError, TypeError):
        said = answer.reason
    wait = answer.headers.get("Retry-After")
    return f"{answer.status_code} {said}" + (f" (try again in {wait} s)" if wait else "")
