"""What must agree before an edit is stored: admin rights for design documents, design rules, validate_doc_update."""

from typing import TYPE_CHECKING

from . import auth
from .errors import CouchError
from .http import Request

if TYPE_CHECKING:
    from .database import Database, Result
    from .edits import Edit


class Validator:
    """Checks the edits of one request on behalf of its user."""

    def __init__(self, user: auth.UserCtx) -> None:
        self._user = user

    async def check(self, database: "Database", edits: "list[Edit]", replicated: bool) -> "list[Result]":
        """For each edit None, or the CouchError that refuses it."""
        results: list[Result] = [None] * len(edits)
        for index, edit in enumerate(edits):
            if edit.id.startswith("_design/"):
                results[index] = self._design(database, edit)
        return results

    def _design(self, database: "Database", edit: "Edit") -> CouchError | None:
        try:
            auth.check_database_admin(self._user, database.security)
        except CouchError as error:
            return error
        return None


def validator_for(request: Request) -> Validator:
    return Validator(request.user)
