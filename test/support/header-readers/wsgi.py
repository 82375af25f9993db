"""Answers every request with what a WSGI application reads of the header X-User: one variable for `-` and `_`.

It writes its port first, and ends with its standard input.
"""

import json
import os
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


def application(environ, start_response):
    body = json.dumps([environ.get("HTTP_X_USER")]).encode()
    start_response("200 OK", [("content-type", "text/plain"), ("content-length", str(len(body)))])
    return [body]


def end_with_input():
    sys.stdin.read()
    os._exit(0)


server = make_server("127.0.0.1", 0, application, handler_class=Quiet)
print(server.server_port, flush=True)
threading.Thread(target=end_with_input, daemon=True).start()
server.serve_forever()
