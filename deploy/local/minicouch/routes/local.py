"""Local documents: never replicated, no history, no conflicts."""

from urllib.parse import quote

from ..documents.edits import Edit, parse_edit
from ..documents.revisions import normal_rev
from ..errors import CouchError, bad_request, not_found
from ..http.messages import Request, Response, json_response, raw_json
from ..store.rows import StoredDoc


def no_local_id(_request: Request) -> Response:
    raise bad_request("Invalid _local document id.")


def no_attachments(_request: Request) -> Response:
    raise bad_request("_local documents do not accept attachments.")


def _local_id(request: Request) -> str:
    if not request.params["docid"]:
        raise bad_request("Invalid _local document id.")
    return f"_local/{request.params['docid']}"


def get_local(request: Request) -> Response:
    docid = _local_id(request)
    found = request.db.local(docid)
    if found is None:
        raise not_found()
    return raw_json(local_json(docid, *found) + b"\n", headers=[("ETag", f'"0-{found[0]}"')])


def local_json(docid: str, rev: int, body: bytes) -> bytes:
    return StoredDoc(docid, 0, f"0-{rev}", 0, body).json()


async def put_local(request: Request) -> Response:
    edit = parse_edit(request.json(), _local_id(request))
    asked = request.query.get("rev")
    if asked is not None:
        edit.path = [normal_rev(asked)]
    return await put_local_edit(request, edit)


async def put_local_edit(request: Request, edit: Edit) -> Response:
    rev = await store_local(request, edit)
    location = request.absolute(f"/{quote(request.db.name, safe='')}/{quote(edit.id, safe=':')}")
    return json_response(
        {"ok": True, "id": edit.id, "rev": rev}, 201, [("Location", location), ("ETag", f'"{rev}"')]
    )


async def store_local(request: Request, edit: Edit) -> str:
    """The new revision, `0-N`. Errors: 400 for a revision that is none of a local document."""
    number = 1
    if edit.path:
        start, _, count = edit.path[0].partition("-")
        if start != "0" or not count.isdigit():
            raise CouchError(400, "error", "Invalid rev format")
        number = int(count) + 1
    with request.db.transaction() as change:
        if edit.deleted:
            change.remove_local(edit.id)
            number = 0
        else:
            change.put_local(edit.id, number, edit.encoded)
    await request.db.durable()
    return f"0-{number}"


async def delete_local(request: Request) -> Response:
    docid = _local_id(request)
    if request.db.local(docid) is None:
        raise not_found()
    await store_local(request, Edit(docid, {}, deleted=True))
    return json_response({"ok": True, "id": docid, "rev": "0-0"})


ROUTES = [
    ("GET", "/{db}/_local", no_local_id, "local document"),
    ("PUT", "/{db}/_local", no_local_id, "local document"),
    *(
        (method, "/{db}/_local/{docid}/{rest*}", no_attachments, "local document")
        for method in ("GET", "PUT", "DELETE")
    ),
    ("GET", "/{db}/_local/{docid}", get_local, "local document"),
    ("PUT", "/{db}/_local/{docid}", put_local, "local document"),
    ("DELETE", "/{db}/_local/{docid}", delete_local, "local document"),
]
