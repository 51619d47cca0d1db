"""Who is let in."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.users.security.keys import SigningKeys
from shared.errors import Unauthorized, Unavailable
from shared.web import JwksKeys, Tokens


def test_a_valid_token_names_its_user(client, bearer):
    assert client.get("/v1/things/mine", headers=bearer()).json == {"userid": "u1"}


def test_personal_answers_are_not_cached(client, bearer):
    assert client.get("/v1/things/mine", headers=bearer()).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("roles", "status"), [((), 403), (("customer",), 403), (("staff",), 200), (("customer", "admin"), 200)]
)
def test_roles(client, bearer, roles, status):
    assert client.get("/v1/things/staff", headers=bearer(*roles)).status_code == status


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic dTpw",
        "Service a service secret",
        "Bearer a.b.c",
        "Bearer é",
    ],
)
def test_anything_else_is_401(client, value):
    answer = client.get("/v1/things/mine", headers={"Authorization": value.encode().decode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "value",
    ["", "Service", "Service wrong", "Bearer a service secret", "service a service secret", "Service ü"],
)
def test_services_show_the_secret(client, value):
    headers = {"Authorization": value.encode().decode("latin-1"), "X-Acting-User": "u2"}
    assert client.get("/v1/things/internal", headers=headers).status_code == 401


def test_a_service_acts_for_a_user(client):
    headers = {"Authorization": "Service a service secret", "X-Acting-User": "u2"}
    assert client.get("/v1/things/internal", headers=headers).json == {"userid": "u2"}


def test_a_client_address_is_believed_only_of_our_services(client):
    def seen(**headers):
        return client.get(
            "/v1/things/address", headers={k.replace("_", "-"): v for k, v in headers.items()}
        ).json["address"]

    assert seen() == "127.0.0.1"
    assert seen(X_Forwarded_For="9.9.9.9") == "127.0.0.1"
    assert seen(X_Client_Address="9.9.9.9", X_Service_Secret="wrong") == "127.0.0.1"
    assert seen(X_Client_Address="9.9.9.9", X_Service_Secret="a service secret") == "9.9.9.9"


def signed(private, **changes):
    now = int(time.time())
    claims = {
        "iss": "aisle",
        "sub": "u1",
        "use": "access",
        "iat": now,
        "exp": now + 60,
        "roles": [],
    } | changes
    return jwt.encode(
        {k: v for k, v in claims.items() if v is not None}, private, "EdDSA", headers={"kid": "k"}
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"exp": None},
        {"iss": "other"},
        {"sub": None},
        {"use": "refresh"},
        {"use": None},
        {"iat": None},
    ],
)
def test_claims_that_are_missing_or_wrong_are_refused(changes):
    private = Ed25519PrivateKey.generate()
    tokens = Tokens({"k": private.public_key()}.get)
    assert tokens.verify(signed(private)).userid == "u1"
    with pytest.raises(Unauthorized):
        tokens.verify(signed(private, **changes))


def test_a_clock_that_is_behind_takes_a_new_token():
    private = Ed25519PrivateKey.generate()
    token = signed(private, iat=int(time.time()) + 5)
    assert Tokens({"k": private.public_key()}.get).verify(token).userid == "u1"


def test_a_remembered_token_still_expires():
    private = Ed25519PrivateKey.generate()
    tokens = Tokens({"k": private.public_key()}.get)
    token = signed(private, exp=int(time.time()) + 3)
    tokens.verify(token)
    time.sleep(3.1)
    with pytest.raises(Unauthorized):
        tokens.verify(token)


class KeyServer:
    """Publishes keys at a port that stays the same when it is closed and opened again."""

    def __init__(self) -> None:
        self.keys: list[SigningKeys] = []
        self.port, self.asked, self.server = 0, 0, None

    def open(self) -> str:
        keeper = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                keeper.asked += 1
                body = json.dumps(
                    {"keys": [key for keys in keeper.keys for key in keys.jwks()["keys"]]}
                ).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def new_keys() -> SigningKeys:
    return SigningKeys(Ed25519PrivateKey.generate(), [], seconds=60)


def test_known_keys_go_on_verifying_while_users_is_away():
    server, first, second = KeyServer(), new_keys(), new_keys()
    server.keys = [first]
    tokens = Tokens(JwksKeys(server.open(), "secret", max_age=0, min_wait=0))
    assert tokens.verify(first.access_token("u1", "s", [])).userid == "u1"
    server.close()
    assert tokens.verify(first.access_token("u2", "s", [])).userid == "u2"
    with pytest.raises(Unavailable):
        tokens.verify(second.access_token("u3", "s", []))
    server.keys = [second]
    server.open()
    assert tokens.verify(second.access_token("u3", "s", [])).userid == "u3", "a new key is found by its id"
    with pytest.raises(Unauthorized):
        tokens.verify(first.access_token("u4", "s", []))
    server.close()


def test_made_up_key_ids_do_not_flood_the_users_service():
    server, keys = KeyServer(), new_keys()
    server.keys = [keys]
    tokens = Tokens(JwksKeys(server.open(), "secret"))
    for _ in range(20):
        with pytest.raises(Unauthorized):
            tokens.verify(new_keys().access_token("u", "s", []))
    assert server.asked == 1
    server.close()


def test_an_unknown_key_without_the_users_service_is_503_not_401():
    keys = SigningKeys(Ed25519PrivateKey.generate(), [], seconds=60)
    tokens = Tokens(JwksKeys("http://127.0.0.1:9", "secret"))
    with pytest.raises(Unavailable):
        tokens.verify(keys.access_token("u", "s", []))
