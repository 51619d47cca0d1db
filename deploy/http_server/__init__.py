"""gunicorn's threaded worker for slow and hostile clients: a thread is used only while there is work for it.

The worker's main loop reads each request into memory and writes what a client is slow to read; threads run the
application. A thread that has answered listens a moment for the next request of the same connection, and leaves it to
the main loop when another request needs a thread or this one is not here in one piece. Only a body larger than `MAX_BUFFERED_BODY` is read by a thread, at a minimum rate and in few threads at once.
"""
