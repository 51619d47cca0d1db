"""A mail server that keeps what it gets: enough SMTP for an e-mail to arrive."""

import socketserver
import threading


class Mailbox(socketserver.ThreadingTCPServer):
    """E-mails as text, in `emails`."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.emails: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Session(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.say("220 mailbox")
        while line := self.rfile.readline().decode().strip():
            match line.split()[0].upper():
                case "DATA":
                    self.say("354 go on")
                    self.server.emails.append(self.email())
                    self.say("250 kept")
                case "QUIT":
                    self.say("221 bye")
                    return
                case _:
                    self.say("250 ok")

    def email(self) -> str:
        lines = []
        while (line := self.rfile.readline().decode().rstrip("\r\n")) != ".":
            lines.append(line)
        return "\n".join(lines)

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())
