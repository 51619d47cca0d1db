"""`python -m deploy.signing_key PATH`: makes the Ed25519 key that signs access tokens, unless PATH is there already."""

import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deploy.secret_files import keep_secret


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(sys.argv[1])
    if keep_secret(path, signing_key):
        print(f"{path} made")
    return 0


def signing_key() -> str:
    """A new private key as PEM."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


if __name__ == "__main__":
    sys.exit(main())
