"""A local web server for one user; all its work ends with it."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from flask import Flask
from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer

from epigym.errors import UsageError


@contextmanager
def serve(app: Flask, host: str, port: int) -> Iterator[BaseWSGIServer]:
    """Start a server; at the end of the block it stops and ends the work of its requests.

    Args:
        app: the application.
        host: the name or address to listen at.
        port: 0 for any that is free.

    Raises:
        UsageError: when the address or port is not available.
    """
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it logs every request
    with _listen(host, port) as listener:
        server = _Server(host, listener.getsockname()[1], app, fd=listener.fileno())
        try:
            yield server
        finally:
            server.server_close()


def find_address(server: BaseWSGIServer) -> str:
    """The URL of a server for a browser on this machine."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"http://{host}:{server.port}/"


class _Server(ThreadedWSGIServer):
    """A server with a thread for each connection; closing it ends the connections and so the threads."""

    daemon_threads = False  # closing the server waits for them

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._connections: WeakSet[socket.socket] = WeakSet()
        super().__init__(*arguments, **options)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def server_close(self) -> None:
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        code = error.errno or 0
        if code < 0:  # of name resolution; `create_server` passes on only the number
            raise UsageError(f"host={host} is unknown: name an address of this machine") from None
        if code == errno.EADDRNOTAVAIL:
            raise UsageError(f"host={host} is no address of this machine: name one, such as 127.0.0.1") from None
        why = os.strerror(code)
        raise UsageError(f"host={host} port={port}: {why}: take another port, or port=0 for any that is free") from None
