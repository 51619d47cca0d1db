"""Imported by the fork server: OpenSSL makes its tables with the first context, 2 MiB for each process. Made before they are forked, they are
there once."""

import ssl

ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
