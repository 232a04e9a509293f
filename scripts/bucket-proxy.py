"""Stands between the program and a server of S3, and spoils requests as it is told; scripts/bucket-faults uses it.

    bucket-proxy.py ADDRESS SERVER FOLDER     ADDRESS and SERVER as HOST:PORT

FOLDER/mode says what to spoil, words apart by blanks, read anew for every request; a missing file spoils nothing:

    refuse            nobody listens, and connections that are open end
    overwrite         the header If-None-Match is taken away, so that a second write replaces the first
    expired           every request is answered as one with an expired token
    drop=PERCENT      the connection ends before the request reaches the server
    cut=PERCENT       of a PUT, half of the body reaches the server, and both connections end
    lost=PERCENT      a PUT takes place, and the connection ends instead of its reply
    short=PERCENT     of the reply to a GET, half arrives
    409=PERCENT, 412=PERCENT     a PUT is answered so, and nothing is written
    500=PERCENT, 503=PERCENT     a request is answered so, and does not reach the server

FOLDER/spoiled receives a line for each: what was done, and the request.
"""

import http.client
import http.server
import pathlib
import random
import socket
import struct
import sys
import threading
import time

PUT_ONLY = ("cut", "lost", "409", "412")
CODES = {"409": "ConditionalRequestConflict", "412": "PreconditionFailed", "500": "InternalError", "503": "SlowDown"}
# A server for tests may look for an object and write it in two steps, which S3 does in one.
one_write = threading.Lock()


def modes():
    try:
        words = (folder / "mode").read_text().split()
    except FileNotFoundError:
        return {}
    return {word.partition("=")[0]: float(word.partition("=")[2] or 100) for word in words}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        spoil = self.draw(body)
        if spoil:
            with open(folder / "spoiled", "a") as told:
                told.write(f"{spoil} {self.command} {self.path}\n")
        if spoil in ("refuse", "drop"):
            return self.hang_up()
        if spoil == "expired":
            return self.fail(400, "ExpiredToken")
        if spoil in CODES:
            return self.fail(int(spoil), CODES[spoil])
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        if spoil == "overwrite":
            headers = {name: value for name, value in headers.items() if name.lower() != "if-none-match"}
        try:
            if self.command == "PUT" and spoil != "cut":
                with one_write:
                    reply, content = self.forward(headers, body)
            else:
                reply, content = self.forward(headers, body, spoil == "cut")
            if spoil in ("cut", "lost"):
                return self.hang_up()
            self.send_response_only(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            length = reply.getheader("Content-Length") if self.command == "HEAD" else len(content)
            self.send_header("Content-Length", length or 0)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if spoil == "short" else content)
            if spoil == "short":
                self.hang_up()
        except OSError:
            self.hang_up()

    def draw(self, body):
        drawn = random.random() * 100
        for name, share in modes().items():
            if name in PUT_ONLY and self.command != "PUT" or name == "cut" and len(body) < 2:
                continue
            if name == "short" and self.command != "GET" or name == "overwrite" and "If-None-Match" not in self.headers:
                continue
            drawn -= share
            if drawn < 0:
                return name
        return None

    def forward(self, headers, body, is_cut=False):
        connection = http.client.HTTPConnection(*server, timeout=600)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body[: len(body) // 2] if is_cut else body)
        if is_cut:
            time.sleep(0.05)
            connection.close()
            return None, b""
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply, content

    def fail(self, status, code):
        content = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>by the proxy</Message></Error>".encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", len(content))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def hang_up(self):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def log_message(self, *_):
        pass

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request


class Listener(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # A program that was killed in the middle of a request.


def split(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


address, server, folder = split(sys.argv[1]), split(sys.argv[2]), pathlib.Path(sys.argv[3])
listener = None
while True:
    refuses = "refuse" in modes()
    if refuses and listener:
        listener.shutdown()
        listener.server_close()
        listener = None
    if not refuses and not listener:
        listener = Listener(address, Handler)
        threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()
    time.sleep(0.05)
