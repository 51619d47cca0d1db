"""A database: edits in one transaction, revisions and their ids, attachments, documents as they are asked for."""
