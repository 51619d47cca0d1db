"""Backup and restore through the command line: what was on one server is on an empty other one, revision for revision."""

import base64
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from deploy.backup import files
from deploy.checks.locks import ROOT
from tests.processes import running_minicouch

VIEW = {"views": {"sum": {"map": "function (doc) { emit(doc.kind, doc.number); }", "reduce": "_sum"}}}


def backup(couch_url: str, *arguments: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "deploy.backup", *arguments],
        env={**os.environ, "COUCH_URL": couch_url, **env},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def source(couch_url: str) -> Iterator[tuple[str, str]]:
    """A server's URL and the prefix of two databases on it."""
    prefix = f"b{secrets.token_hex(4)}-"
    goods, plain = f"{couch_url}/{prefix}goods", f"{couch_url}/{prefix}plain"
    requests.put(goods, params={"partitioned": "true"}).raise_for_status()
    requests.put(plain).raise_for_status()
    documents = [
        {"_id": f"Home#Pots & Pans:p{n}", "kind": "pan", "number": n, "name": f"Käse's {n} 🧀"}
        for n in range(1200)
    ]
    requests.post(f"{goods}/_bulk_docs", json={"docs": documents}).raise_for_status()
    requests.put(f"{goods}/_design/sum", json={**VIEW, "options": {"partitioned": False}}).raise_for_status()
    conflict = [{"_id": "c:1", "_rev": f"1-{letter * 32}", "number": 1} for letter in "ab"]
    requests.post(f"{goods}/_bulk_docs", json={"docs": conflict, "new_edits": False}).raise_for_status()
    changed = requests.get(f"{goods}/Home%23Pots%20%26%20Pans%3Ap7").json()
    requests.put(f"{goods}/Home%23Pots%20%26%20Pans%3Ap7", json={**changed, "number": -7}).raise_for_status()
    gone = requests.get(f"{goods}/Home%23Pots%20%26%20Pans%3Ap8").json()
    requests.delete(f"{goods}/Home%23Pots%20%26%20Pans%3Ap8", params={"rev": gone["_rev"]}).raise_for_status()
    letter = {"content_type": "text/plain", "data": "aGVsbG8="}
    requests.put(f"{plain}/letter", json={"_attachments": {"a.txt": letter}}).raise_for_status()
    yield couch_url, prefix
    requests.delete(goods)
    requests.delete(plain)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[str]:
    with running_minicouch(tmp_path / "empty") as url:
        yield url


def seen(url: str, prefix: str) -> dict:
    """All that a server tells about the two databases, but for what is its own (sequences)."""
    goods, plain = f"{url}/{prefix}goods", f"{url}/{prefix}plain"
    leaves = requests.get(f"{goods}/_changes", params={"style": "all_docs"}).json()["results"]
    return {
        "partitioned": requests.get(goods).json()["props"],
        "documents": requests.get(
            f"{goods}/_all_docs", params={"include_docs": "true", "conflicts": "true"}
        ).json()["rows"],
        "leaves": sorted(
            (row["id"], sorted(leaf["rev"] for leaf in row["changes"]), row.get("deleted")) for row in leaves
        ),
        "ancestry": requests.get(f"{goods}/Home%23Pots%20%26%20Pans%3Ap7", params={"revs": "true"}).json(),
        "report": requests.get(f"{goods}/_design/sum/_view/sum", params={"group": "true"}).json()["rows"],
        "attachment": requests.get(f"{plain}/letter/a.txt").content,
    }


def test_what_is_saved_comes_back_on_an_empty_server(
    source: tuple[str, str], empty: str, tmp_path: Path
) -> None:
    url, prefix = source
    saved = backup(url, "save", str(tmp_path / "backups"), DATABASE_PREFIX=prefix)
    assert saved.returncode == 0, saved.stderr
    (folder,) = (tmp_path / "backups").iterdir()
    restored = backup(empty, "restore", str(folder))
    assert restored.returncode == 0, restored.stderr
    before, after = seen(url, prefix), seen(empty, prefix)
    assert len(before["documents"]) == 1201
    for part, value in before.items():
        assert after[part] == value, part


def test_a_restore_never_writes_into_a_database_that_is_there(
    source: tuple[str, str], tmp_path: Path
) -> None:
    url, prefix = source
    backup(url, "save", str(tmp_path), DATABASE_PREFIX=prefix)
    (folder,) = tmp_path.iterdir()
    refused = backup(url, "restore", str(folder))
    assert refused.returncode == 1
    assert f"{prefix}goods, {prefix}plain is on the server already" in refused.stderr


def test_a_damaged_file_is_noticed_before_anything_is_written(
    source: tuple[str, str], empty: str, tmp_path: Path
) -> None:
    url, prefix = source
    backup(url, "save", str(tmp_path), DATABASE_PREFIX=prefix)
    (folder,) = [path for path in tmp_path.iterdir() if (path / "manifest.json").exists()]
    damaged = (
        folder / json.loads((folder / "manifest.json").read_text())["databases"][f"{prefix}plain"]["file"]
    )
    damaged.write_bytes(damaged.read_bytes()[:-9])
    refused = backup(empty, "restore", str(folder))
    assert refused.returncode == 1
    assert damaged.name in refused.stderr
    assert [name for name in requests.get(f"{empty}/_all_dbs").json() if not name.startswith("_")] == []


def test_old_backups_are_removed_and_unfinished_ones_are_none(
    source: tuple[str, str], tmp_path: Path
) -> None:
    url, prefix = source
    (tmp_path / ".2026-01-01").mkdir()
    for _ in range(3):
        assert backup(url, "save", "--keep", "2", str(tmp_path), DATABASE_PREFIX=prefix).returncode == 0
    assert len([path for path in tmp_path.iterdir() if not path.name.startswith(".")]) == 2
    assert backup(url, "restore", str(tmp_path / ".2026-01-01")).returncode == 1


def test_a_password_in_the_address_is_decoded_as_the_services_do(
    source: tuple[str, str], tmp_path: Path
) -> None:
    url, prefix = source
    parts = urlsplit(url)
    spelt = "".join(f"%{ord(letter):02X}" for letter in parts.password)
    saved = backup(
        url.replace(f":{parts.password}@", f":{spelt}@"), "save", str(tmp_path), DATABASE_PREFIX=prefix
    )
    assert saved.returncode == 0, saved.stderr


def test_a_backup_is_for_its_owner_only(source: tuple[str, str], tmp_path: Path) -> None:
    url, prefix = source
    assert backup(url, "save", str(tmp_path / "all"), DATABASE_PREFIX=prefix).returncode == 0
    (folder,) = (tmp_path / "all").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    answer = backup("http://127.0.0.1:9", "save", str(tmp_path))
    assert answer.returncode == 1
    assert "does not answer" in answer.stderr
    assert list(tmp_path.iterdir()) == [], "failed backups do not fill the disk"


def test_many_pictures_fit_a_small_container_and_small_requests(
    couch_url: str, empty: str, tmp_path: Path
) -> None:
    """The CronJob has 256 MiB; Cloudant takes 11 MB in one request."""
    database = f"b{secrets.token_hex(4)}-pictures"
    requests.put(f"{couch_url}/{database}").raise_for_status()
    for number in range(40):
        picture = {"content_type": "image/png", "data": base64.b64encode(os.urandom(1_000_000)).decode()}
        body = {"number": number, "_attachments": {"picture.png": picture}}
        requests.put(f"{couch_url}/{database}/p{number:02d}", json=body).raise_for_status()
    measured = (
        "import resource, sys; from deploy.backup.__main__ import main; code = main(); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr); sys.exit(code)"
    )
    answer = (
        subprocess.run(  # by way of a shell, since a process begins with the peak of the one that forked it
            [
                "sh",
                "-c",
                '"$0" "$@"; exit $?',
                sys.executable,
                "-c",
                measured,
                "save",
                str(tmp_path / "backups"),
            ],
            env={**os.environ, "COUCH_URL": couch_url, "DATABASE_PREFIX": database},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )
    )
    assert answer.returncode == 0, answer.stderr
    assert int(answer.stderr) < 120
    (folder,) = (tmp_path / "backups").iterdir()
    batches = list(files.read_batches(folder / f"{database}.jsonl.gz", 500))
    assert [len(batch) for batch in batches] == [2] * 20
    assert backup(empty, "restore", str(folder)).returncode == 0
    same = [requests.get(f"{url}/{database}/p39/picture.png").content for url in (couch_url, empty)]
    assert len(same[0]) == 1_000_000
    assert same[0] == same[1]
    requests.delete(f"{couch_url}/{database}")
