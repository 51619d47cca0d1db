"""`python -m deploy.cluster --nodes 3`: joins CouchDB nodes that find each other (seedlist) into one cluster.

Reads COUCH_URL, COUCH_USERNAME and COUCH_PASSWORD. Waits until every node is seen, then finishes the
set-up, which makes the system databases. Done already, it changes nothing.
"""

import argparse
import os
import sys
import time

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant.cloudant_v1 import CloudantV1
from requests.exceptions import RequestException

TIMEOUT_SECONDS = 300
SYSTEM_DATABASES = ("_users", "_replicator")


class NotJoined(Exception):
    """The cluster is not whole in time; the message names who is seen."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.cluster", description=__doc__)
    parser.add_argument("--nodes", type=int, required=True, help="how many nodes the cluster has")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, help="seconds to wait for them")
    options = parser.parse_args()
    client = CloudantV1(
        authenticator=BasicAuthenticator(os.environ["COUCH_USERNAME"], os.environ["COUCH_PASSWORD"])
    )
    client.set_service_url(os.environ["COUCH_URL"])
    try:
        join(client, options.nodes, options.timeout)
    except NotJoined as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def join(client: CloudantV1, nodes: int, timeout: float) -> None:
    """Raises NotJoined."""
    end = time.monotonic() + timeout
    while len(seen := _members(client)) < nodes:
        if time.monotonic() > end:
            raise NotJoined(f"Only {len(seen)} of {nodes} nodes are there: {', '.join(seen) or 'none'}.")
        print(f"{len(seen)} of {nodes} nodes", flush=True)
        time.sleep(2)
    _finish(client)
    print(f"One cluster of {len(seen)}: {', '.join(seen)}")


def _members(client: CloudantV1) -> list[str]:
    """The nodes that the cluster holds and that are up, as the node asked sees it."""
    try:
        answer = client.get_membership_information().get_result()
    except (ApiException, RequestException):
        return []
    return sorted(set(answer["cluster_nodes"]) & set(answer["all_nodes"]))


def _finish(client: CloudantV1) -> None:
    """Makes what `finish_cluster` makes; two of us at once do no harm."""
    there = client.get_all_dbs().get_result()
    for name in SYSTEM_DATABASES:
        if name in there:
            continue
        try:
            client.put_database(db=name)
        except ApiException as error:
            if error.status_code != 412:
                raise


if __name__ == "__main__":
    sys.exit(main())
