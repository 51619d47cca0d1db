"""`python -m deploy.local.celery`: Celery's command line without the shell that `celery amqp` opens, whose libraries take 10 MiB of every worker."""

import sys
from types import SimpleNamespace

sys.modules["click_repl"] = SimpleNamespace(register_repl=lambda group: None)  # type: ignore[assignment]

from celery.__main__ import main  # noqa: E402  # it imports what is replaced here

if __name__ == "__main__":
    main()
