"""A local HTTP server that behaves as badly as real ones."""

import contextlib
import http.server
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves ``server.bodies``; a path is ``/FAULT/NAME``."""

    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def do_GET(self):
        _, fault, name = self.path.split('/', 2)
        self.body = self.server.bodies[name]
        self.piece = len(self.body) // 3
        self.server.requests.append((fault, self.headers.get('Range')))
        self.tries = [f for f, _ in self.server.requests].count(fault)
        with contextlib.suppress(OSError):  # the client may hang up
            getattr(self, 'serve_' + fault)()
        self.close_connection = True

    def send(self, body, start=0, code=200, length=None, **headers):
        self.send_response(code)
        if code == 206:
            span = f'bytes {start}-{len(body) - 1}/{len(body)}'
            self.send_header('Content-Range', span)
        if length != -1:
            size = len(body) - start if length is None else length
            self.send_header('Content-Length', str(size))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()

    def serve_good(self, cut=None, ranges=True):
        text = self.headers.get('Range', 'bytes=0-')
        start = int(text[len('bytes=') : -1]) if ranges else 0
        if start and start >= len(self.body):
            self.send(b'', code=416)
            return
        self.send(self.body, start, 206 if start else 200)
        end = len(self.body) if cut is None else start + cut
        self.wfile.write(self.body[start:end])

    def serve_drops(self):
        """Hangs up after each third of the file."""
        self.serve_good(cut=self.piece)

    def serve_deaf(self):
        """Ignores Range, and hangs up twice."""
        cut = {1: self.piece, 2: self.piece - 100}.get(self.tries)
        self.serve_good(cut=cut, ranges=False)

    def serve_stuck(self):
        """Ignores Range and always stops somewhere, never at the end."""
        cut = self.piece - 100 * (self.tries % 2)
        self.serve_good(cut=cut, ranges=False)

    def serve_wrong(self):
        self.send(self.body)
        self.wfile.write(self.body[::-1])

    def serve_short(self):
        self.send(self.body[:-1])
        self.wfile.write(self.body[:-1])

    def serve_endless(self):
        self.send(self.body, length=-1)
        for _ in range(100):
            self.wfile.write(self.body)

    def serve_page(self):
        page = b'<html>Too many users have viewed this file</html>'
        self.send(page, Content_Type='text/html; charset=utf-8')
        self.wfile.write(page)

    def serve_gone(self):
        self.send(b'', code=404)

    def serve_busy(self):
        if self.tries < 3:
            self.send(b'', code=503)
        else:
            self.serve_good()

    def serve_shifted(self):
        """Answers a range request with another range, but once only."""
        if self.tries == 1:
            self.serve_good(cut=self.piece)
        elif self.tries == 2:
            self.send(self.body, 7, 206)
            self.wfile.write(self.body[7:])
        else:
            self.serve_good()


@contextlib.contextmanager
def faulty_server(**bodies):
    """Run a server of the given bodies; ``.url`` is its address."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.bodies = dict(bodies)
    server.requests = []
    server.url = f'http://127.0.0.1:{server.server_address[1]}'
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
