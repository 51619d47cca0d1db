"""What a field of a document may hold, declared once: `name: Annotated[str, Text(1, 500)]` in a document's TypedDict.

Everything else about the field follows from there: the check of a request or an import line (`Declaration.check`), the request and
response schemas (`shared.web.declared`), the columns of CSV files (`shared.tables`), and what an answer shows where
an older document has no such field (`Declaration.defaults`).
"""

from shared.fields.declaration import Declaration
from shared.fields.kinds import (
    Amount,
    Amounts,
    AmountsByName,
    Boolean,
    Choice,
    Field,
    Group,
    GroupList,
    GroupsByName,
    Integer,
    JsonObject,
    Lines,
    Moment,
    Number,
    Percent,
    Rejected,
    Secret,
    Text,
    TextList,
    TextMap,
    as_whole,
)

__all__ = [
    "Amount",
    "Amounts",
    "AmountsByName",
    "Boolean",
    "Choice",
    "Declaration",
    "Field",
    "Group",
    "GroupList",
    "GroupsByName",
    "Integer",
    "JsonObject",
    "Lines",
    "Moment",
    "Number",
    "Percent",
    "Rejected",
    "Secret",
    "Text",
    "TextList",
    "TextMap",
    "as_whole",
]
