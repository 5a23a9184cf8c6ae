#!/usr/bin/env python3
"""A server of which one system call or allocation fails, the n-th of its name, for every n.

    server.py HEED FAULTS.so MODEL [--step 0] [--only accept]

Clients send requests to several routes: kept-alive connections, a page, streams of HTTP/1.1 and HTTP/1.0, bodies in chunks,
a malformed request and a client that leaves. With each failure, an answer is the right one, an error (status 500 or 503), or
breaks off in a way that its client can see: fewer bytes than announced, no last chunk, or a connection that is reset. After
it, the next clients are answered, no descriptor, thread, request or connection is left, and SIGTERM ends the server with
status 0. Then: failures while a server starts, while it reads a model for a request, and while it ends.

--step: n grows by so many percent and 1; 0 tries every n. Prints how many failures there were.
"""

import argparse
import contextlib
import errno
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from served_models import comparable, make_models, model_arguments, request

PATIENCE = 120  # a test that fails waits so long; one that passes does not
ALWAYS = 2**62
SHORT = -1

# What may fail while a server runs, and with which errors. Besides, every recv brings a single byte. That a send takes only
# a part comes from the clients' small buffers: Asio relies on a part being all that the system takes at the moment.
FAILURES = {
    "accept": [errno.EMFILE, errno.ECONNABORTED, errno.ENOBUFS],
    "recv": [errno.ECONNRESET, errno.ENOMEM],
    "send": [errno.EPIPE, errno.ENOBUFS],
    "epoll_add": [errno.ENOMEM, errno.ENOSPC],
    "epoll_wait": [errno.EINTR],
    "setsockopt": [errno.ENOBUFS],
    "getpeername": [errno.ENOTCONN],
    "ioctl": [errno.EIO],
    "shutdown": [errno.ENOTCONN],
    "close": [errno.EIO],
    "write": [errno.ENOSPC],  # the access log
    "mmap": [errno.ENOMEM],
    "new": [errno.ENOMEM],
}


class Complaint(Exception):
    """What is wrong after a failure."""


class Faults:
    """The file that faults.cc maps: which calls fail."""

    FORM = struct.Struct("16sqqqqq")  # call, error, first, last, count, failed

    def __init__(self, path):
        path.write_bytes(bytes(self.FORM.size))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), self.FORM.size)

    def choose(self, call, error, first, last):
        self.none()
        self.FORM.pack_into(self.map, 0, b"", error, first, last, 0, 0)
        self.map[:16] = call.encode().ljust(16, b"\0")

    def none(self):
        """Switches failures off; returns how many there were."""
        self.map[:16] = bytes(16)
        return self.FORM.unpack(self.map)[5]


class Answer:
    """An answer as far as it came. `whole`: its client cannot tell it from one that is complete."""

    def __init__(self, received, was_reset):
        head, separator, rest = received.partition(b"\r\n\r\n")
        self.status, self.body, self.whole, self.until_end = 0, b"", False, False
        if not separator:
            return
        self.status = int(head.split()[1])
        headers = head.decode().lower()
        length = re.search(r"content-length: (\d+)", headers)
        if length:
            self.body, self.whole = rest, len(rest) == int(length[1])
        elif "transfer-encoding: chunked" in headers:
            self.whole = rest.endswith(b"0\r\n\r\n")
            while re.match(rb"[0-9a-f]+\r\n", rest):
                size, _, rest = rest.partition(b"\r\n")
                self.body, rest = self.body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
        else:  # HTTP/1.0: the end of the connection is the end of the answer
            self.body, self.whole, self.until_end = rest, not was_reset, True


class Client:
    """A connection that sends requests one by one and takes their answers."""

    def __init__(self, port):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.ended = False

    def close(self):
        self.socket.close()

    def send(self, data):
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def answer(self):
        received, was_reset = b"", False
        while not self.ended:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                was_reset, more = True, b""
            except socket.timeout as error:
                raise Complaint(f"no answer within {PATIENCE} s") from error
            self.ended = more == b""
            received += more
            if received.startswith(b"HTTP/1.1 100") and b"\r\n\r\n" in received:
                received = received.partition(b"\r\n\r\n")[2]
            head, _, body = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if length and len(body) < int(length[1]):
                continue
            answer = Answer(received, was_reset)
            if answer.whole and not answer.until_end:
                break
        return Answer(received, was_reset)


def in_chunks(path, body):
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = [data[:7], data[7:]]
    return head.encode() + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


SENTENCE = "Das Haus 7 ist rot."
TRANSLATE = {"q": SENTENCE, "source": "de", "target": "en"}
STREAM = {"model": "text", "prompt": "Das ist", "max_tokens": 6, "stream": True}

# Connections, each with its requests: name, bytes, expected status.
CONNECTIONS = [
    [
        ("health", request("/health"), 200),
        ("translate", request("/translate", TRANSLATE), 200),
        ("attend", request("/v1/attend", {"text": SENTENCE, "model": "pair"}), 200),
        ("languages", request("/languages"), 200),
    ],
    [("page", request("/main.js"), 200), ("stream", request("/v1/completions", STREAM), 200)],
    [("stream of HTTP/1.0", request("/v1/completions", STREAM, "1.0"), 200)],
    [
        ("chunks", in_chunks("/v1/translate", {"text": [SENTENCE, "Rot."], "model": "pair"}), 200),
        ("classify", request("/v1/classify", {"text": SENTENCE, "model": "label"}), 200),
        ("embeddings", request("/v1/embeddings", {"input": SENTENCE, "model": "label"}), 200),
    ],
    [
        ("continue", request("/v1/translate", {"text": SENTENCE, "model": "pair"}, headers="Expect: 100-continue\r\n"), 200),
        ("none", request("/none"), 404),
    ],
    [("malformed", b"NO HTTP\r\n\r\n", 400)],
    [("leaves", request("/v1/translate", {"text": [SENTENCE] * 20, "model": "pair"})[:-9], None)],
    [("leaves after it", request("/v1/translate", {"text": [SENTENCE] * 20, "model": "pair"}), None)],
]


class Server:
    """A server process with its faults."""

    def __init__(self, options, work):
        self.log = work / "access.log"
        command = [options.heed, "serve", "--port", "0", "--threads", "2", "--access-log", self.log]
        command += model_arguments(work)
        self.errors = open(work / "errors", "w+", encoding="utf-8")
        environment = {**os.environ, "LD_PRELOAD": options.faults, "HEED_FAULT_CONTROL": str(work / "control")}
        self.process = subprocess.Popen(command, env=environment, stderr=self.errors)
        self.port = None

    def said(self):
        self.errors.flush()
        return Path(self.errors.name).read_text(encoding="utf-8").strip()

    def listens(self):
        """Waits until it listens, or has ended."""
        eventually(lambda: self.process.poll() is not None or "listening on" in self.said(), "the server does not start")
        found = re.search(r"listening on \S+:(\d+)/", self.said())
        self.port = int(found[1]) if found else None
        return self.port is not None and self.process.poll() is None

    def require_alive(self):
        if self.process.poll() is not None:
            raise Complaint(f"the server has ended with status {self.process.returncode}: {self.said()[-300:]}")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def tasks(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def gauges(self):
        """Requests that run or wait, and connections beside this one."""
        client = Client(self.port)
        client.send(request("/metrics"))
        text = client.answer().body.decode()
        client.close()
        names = {"heed_requests_running": 0, "heed_requests_queued": 0, "heed_connections": 1}
        return sum(int(re.search(rf"^{name} (\d+)", text, re.M)[1]) - own for name, own in names.items())

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Complaint("the server does not end") from None

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()


def eventually(condition, complaint):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise Complaint(complaint() if callable(complaint) else complaint)
        time.sleep(0.01)


def scenario(server, expected, failing):
    """All requests. Returns the answers; compares them if there are expected ones."""
    answers = {}
    for requests in CONNECTIONS:
        try:
            client = Client(server.port)
        except OSError as error:
            server.require_alive()
            raise Complaint(f"cannot connect: {error}") from error
        for name, data, status in requests:
            client.send(data)
            if status is None:
                break
            try:
                answer = client.answer()
            except Complaint as complaint:
                raise Complaint(f"{name}: {complaint}") from complaint
            server.require_alive()
            answers[name] = comparable(answer.body)
            right = answer.whole and answer.status == status and (expected is None or answers[name] == expected[name])
            # An error is one of the server, or in a stream whose status is sent already, an event.
            is_error = answer.whole and (answer.status in (500, 503) or b'"server_error"' in answer.body)
            if not (right or (failing and (is_error or not answer.whole))):
                raise Complaint(f"{name}: status {answer.status}, {'whole' if answer.whole else 'torn'}: {answer.body[-200:]!r}")
            if client.ended or not answer.whole:
                break
        client.close()
    return answers


class Trial:
    """Failures of a running server, one after the other, as long as it is as it should be."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.faults = Faults(work / "control")
        self.server, self.tried, self.ended, self.complaints = None, 0, 0, []
        self.fresh()

    def fresh(self):
        if self.server:
            self.server.close()
        self.faults.none()
        self.server = Server(self.options, self.work)
        if not self.server.listens():
            sys.exit(f"the server does not start: {self.server.said()}")
        self.expected = scenario(self.server, None, False)
        scenario(self.server, self.expected, False)
        self.settle()
        self.descriptors, self.tasks = self.server.descriptors(), self.server.tasks()

    def settle(self):
        eventually(lambda: self.server.gauges() == 0, "requests or connections are left")

    def require_clean(self):
        """Nothing is left of a failure, and the next client is answered."""
        self.server.require_alive()
        scenario(self.server, self.expected, False)
        self.settle()
        eventually(lambda: self.server.descriptors() <= self.descriptors,
                   lambda: f"{self.server.descriptors()} descriptors are open instead of {self.descriptors}")
        if self.server.tasks() != self.tasks:
            raise Complaint(f"{self.server.tasks()} threads instead of {self.tasks}")

    def complain(self, what):
        print(what, flush=True)
        self.complaints.append(what)

    def one(self, call, error, first, last):
        """Whether the scenario came to the failure."""
        self.faults.choose(call, error, first, last)
        name = f"{call}:{first}{'' if last == first else '+'} ({'short' if error == SHORT else errno.errorcode[error]})"
        failed = 0
        try:
            try:
                scenario(self.server, self.expected, error != SHORT)
            finally:
                failed = self.faults.none()
            if failed:
                self.require_clean()
        except Complaint as complaint:
            if not self.has_run_out(call):
                self.complain(f"{name}: {complaint}")
            self.fresh()
        self.tried += failed > 0
        return failed > 0

    def has_run_out(self, call):
        """Whether memory has run out in a destructor of nlohmann/json, after which the server ends (docs/reliability.md)."""
        if call != "new":
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.server.process.wait(1)
        ends = self.server.process.poll() == 1 and "heed: out of memory" in self.server.said()
        self.ended += ends
        return ends

    def all(self, call, error):
        n, missed = 1, 0
        while missed < (5 if call == "new" else 2):  # a few more or less calls from run to run
            missed = 0 if self.one(call, error, n, n) else missed + 1
            n += 1 + n * self.options.step // 100

    def running(self):
        for call, errors in FAILURES.items():
            if self.options.only not in ("", call):
                continue
            before, begin = self.tried, time.monotonic()
            for error in errors:
                self.all(call, error)
            if call in ("accept", "epoll_add"):  # out of descriptors or memory for a while: 20 in a row
                self.one(call, errors[0], 1, 20)
            print(f"{call}: {self.tried - before} failures, {time.monotonic() - begin:.0f} s", flush=True)
        if self.options.only in ("", "recv") and not self.one("recv", SHORT, 1, ALWAYS):
            self.complain("no recv was short")
        if self.server.end() != 0:
            self.complain(f"after all failures, status {self.server.process.returncode}")

    def fails_in(self, phase, call, first, last):
        """A failure of a fresh server: while it starts, while it reads a model for a request, or while it ends. Whether it
        came to it."""
        name = f"{call}:{first}{'' if last == first else '+'} while {phase}"
        if self.server:
            self.server.close()
        self.faults.none()
        if phase == "starting":
            self.faults.choose(call, 0, first, last)
        self.server = Server(self.options, self.work)
        listens = self.server.listens()
        failed = 0
        try:
            if phase == "starting":
                failed = self.faults.none()
                if not listens:
                    said = self.server.said()
                    if self.server.process.wait(PATIENCE) != 1 or not said.splitlines()[-1:] or "heed: " not in said:
                        raise Complaint(f"status {self.server.process.returncode}: {said[-300:]}")
                    return failed > 0
            elif not listens:
                raise Complaint(f"the server does not start: {self.server.said()}")
            if phase == "reading a model":
                body = {"text": SENTENCE, "model": "pair", "precision": "int8"}
                whole = self.post("/v1/translate", body, call, first, last)
                failed = self.faults.none()
                if whole.whole and whole.status not in (200, 500, 503):
                    raise Complaint(f"status {whole.status}: {whole.body[-200:]!r}")
                if not self.post("/v1/translate", body).status == 200:
                    raise Complaint("the model cannot be read later")
            scenario(self.server, self.expected, False)
            self.settle()
            if phase == "ending":
                self.faults.choose(call, 0, first, last)
            if self.server.end() != 0:
                raise Complaint(f"ends with status {self.server.process.returncode}: {self.server.said()[-300:]}")
            if phase == "ending":
                failed = self.faults.none()
        except Complaint as complaint:
            if not self.has_run_out(call):
                self.complain(f"{name}: {complaint}")
        return failed > 0

    def post(self, path, body, call="", first=0, last=0):
        client = Client(self.server.port)
        if call:
            self.faults.choose(call, 0, first, last)
        client.send(request(path, body))
        answer = client.answer()
        client.close()
        self.server.require_alive()
        return answer

    def fresh_servers(self):
        phases = {
            # Not epoll_add: Asio passes over an error of the two descriptors that it adds then.
            "starting": ["open", "read", "mmap", "close", "socket", "bind", "listen", "getsockname", "epoll_create",
                         "ioctl", "setsockopt", "thread", "new"],
            "reading a model": ["open", "read", "mmap", "close", "new"],
            "ending": ["accept", "close", "shutdown", "epoll_wait", "new"],
        }  # fmt: skip
        for phase, calls in phases.items():
            if self.options.only not in ("", phase):
                continue
            before, begin = self.tried, time.monotonic()
            for call in calls:
                n = 1
                while self.fails_in(phase, call, n, n):
                    self.tried += 1
                    # Of the thousands of allocations of these, a part.
                    n += 1 + n * max(self.options.step, 20 if call == "new" else 0) // 100
            print(f"{phase}: {self.tried - before} failures, {time.monotonic() - begin:.0f} s", flush=True)
        if self.server:
            self.server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("faults", help="the library that is made of faults.cc")
    parser.add_argument("model", help="a model that translates from German to English")
    parser.add_argument("--step", type=int, default=0)
    parser.add_argument("--only", default="", help="only this call, or failures while starting, reading a model or ending")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_models(options.heed, options.model, work)
        trial = Trial(options, work)
        try:
            trial.running()
            trial.fresh_servers()
        finally:
            trial.server.close()
    if trial.ended > trial.tried / 20:
        trial.complain(f"the server has ended {trial.ended} times with 'out of memory'")
    print(f"{trial.tried} failures, {trial.ended} times 'out of memory', {len(trial.complaints)} complaints")
    return 1 if trial.complaints or trial.tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
