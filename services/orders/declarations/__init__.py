"""What the orders database holds: every field once, with what may be in it.

A field with an annotation is answered by the API; schemas, validation, imports and OpenAPI follow from it. One that clients send is
`writable`. A field without an annotation is internal. `services.orders.documents` says where the documents lie.
"""
