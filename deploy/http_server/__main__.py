"""`python -m deploy.http_server OPTIONS APP`: gunicorn, with its options, as one process where one worker is asked for.

For whoever watches the process and starts it again, as the launcher of `make run` does: a master beside each single worker
only costs memory. With several workers it is gunicorn as it comes.
"""

import os
import signal

from gunicorn import sock
from gunicorn.app.wsgiapp import WSGIApplication

from deploy.http_server.worker import Worker


class SingleWorker(Worker):
    """Has no master that would end it when its main loop hangs for gunicorn's `timeout`: the kernel does, by SIGALRM."""

    def notify(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, self.cfg.timeout)


class Application(WSGIApplication):
    """gunicorn's application; `run` returns when it was asked to stop."""

    def run(self) -> None:
        if self.cfg.workers > 1:
            super().run()
            return
        log = self.cfg.logger_class(self.cfg)
        SingleWorker.check_config(self.cfg, log)
        sockets = sock.create_sockets(self.cfg, log)
        worker = SingleWorker(1, os.getppid(), sockets, self, self.cfg.timeout / 2, self.cfg, log)
        worker.pid = os.getpid()
        worker.init_process()


if __name__ == "__main__":
    Application("%(prog)s [OPTIONS] APP", prog="deploy.http_server").run()
