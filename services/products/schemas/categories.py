"""Request and response shapes of what the shop says of its categories."""

import marshmallow as ma

from services.products.category_documents import CATEGORY_FIELDS
from services.products.schemas.files import FailedLine
from shared.web import Shape, page_schema, request_schema, response_schema
from shared.web.fields import StrictInteger

CategoryContent = request_schema("CategoryContent", CATEGORY_FIELDS)
DescribedCategory = response_schema("DescribedCategory", CATEGORY_FIELDS)
DescribedCategories = page_schema("DescribedCategories", DescribedCategory)


class CategoriesImported(Shape):
    written = StrictInteger(0, required=True)
    unchanged = StrictInteger(0, required=True)
    failed = ma.fields.List(ma.fields.Nested(FailedLine), required=True)
