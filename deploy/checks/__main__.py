"""`python -m deploy.checks`: everything under deploy/ that can be validated without deploying it."""

import sys

from deploy import pin_images
from deploy.checks import files, kubernetes

CHECKS = {
    "image": files.dockerfile,
    "digests of images": pin_images.problems,
    "compose": files.compose,
    "gateway": files.gateway,
    "alerts and dashboard": files.alerts,
    "kubernetes": kubernetes.problems,
}


def main() -> int:
    failed = False
    for name, check in CHECKS.items():
        found = list(check())
        failed = failed or bool(found)
        print(f"{name}: {'ok' if not found else f'{len(found)} problems'}")
        print("".join(f"  {problem}\n" for problem in found), end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
