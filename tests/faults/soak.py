#!/usr/bin/env python3
"""A long run of `heed serve` with good and bad requests to every route: is every answer right, and does the memory stay?

    soak.py HEED MODEL [--requests 3000 | --seconds 3600] [--clients 16] [--most-growth 0.1]

MODEL translates from German to English; a language model and a classifier are trained first. Each client draws its next
request at random, besides malformed ones, half requests, and clients that leave before the answer. Every answer must have
the expected status and be the first one to the same request, byte for byte. The model that translates is read again in other
precisions. The median of the resident memory in the last fifth of the requests (of the time, with --seconds) must not be
above that in the second fifth by more than --most-growth. At the end no request, connection or descriptor may be left. Exits
1 otherwise. A number of requests means the same on a busy machine, a time does not.
"""

import argparse
import collections
import http.client
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from served_models import comparable, make_models, model_arguments, request

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SENTENCES = [f"Das {noun} {n} ist {colour}." for noun in ("Haus", "Auto", "Zimmer") for n in range(20) for colour in ("rot", "blau", "alt")]


def good_requests(text):
    """Name, how often, method, path, body and its type: every route."""
    pair = {"text": text, "model": "pair"}
    libre = {"q": text, "source": "de", "target": "en"}
    complete = {"model": "text", "prompt": "Das ist", "max_tokens": 8}
    yield "translate", 30, "POST", "/translate", libre, JSON
    yield "translate list", 5, "POST", "/translate", libre | {"q": [text, "Ein Hund.", text], "alternatives": 2}, JSON
    yield "translate html", 5, "POST", "/translate", libre | {"q": f"<p><b>{text}</b></p>", "format": "html"}, JSON
    yield "translate form", 3, "POST", "/translate", f"q={text.replace(' ', '+')}&source=de&target=en", FORM
    yield "detect", 3, "POST", "/detect", {"q": text}, JSON
    yield "v1/translate", 8, "POST", "/v1/translate", pair | {"nbest": 2, "alignment": True}, JSON
    for precision in ("int8", "int4"):
        yield f"v1/translate {precision}", 3, "POST", "/v1/translate", pair | {"precision": precision}, JSON
    yield "attend", 4, "POST", "/v1/attend", pair | {"packed": True}, JSON
    yield "attend details", 1, "POST", "/v1/attend", pair | {"details": True}, JSON
    yield "picture", 1, "POST", "/v1/attend", pair | {"picture": {"format": "svg", "stack": "cross", "layer": 1, "head": "mean"}}, JSON
    yield "lens", 2, "POST", "/v1/lens", pair, JSON
    yield "attribute", 1, "POST", "/v1/attribute", pair | {"method": "gradient"}, JSON
    yield "patch", 1, "POST", "/v1/patch", {"text": "Das Haus ist rot.", "other": "Das Haus ist blau.", "model": "pair", "what": "layers"}, JSON
    yield "search", 2, "POST", "/v1/search", pair | {"beam": 3}, JSON
    yield "classify", 5, "POST", "/v1/classify", {"text": text, "model": "label"}, JSON
    yield "embeddings", 5, "POST", "/v1/embeddings", {"input": [text, "Ein Hund."], "model": "label"}, JSON
    yield "completions", 5, "POST", "/v1/completions", complete, JSON
    yield "stream", 5, "POST", "/v1/completions", complete | {"stream": True}, JSON
    for path in ("/", "/main.js", "/languages", "/frontend/settings", "/health", "/v1/models", "/v1/models/pair"):
        yield path, 1, "GET", path, None, {}
    yield "metrics", 1, "GET", "/metrics", None, {}


def bad_requests(text):
    """Path, body and expected status."""
    libre = {"q": text, "source": "de", "target": "en"}
    return [
        ("/translate", '{"q": "Hallo"', 400),
        ("/translate", b'{"q": "\xff", "source": "de", "target": "en"}', 400),
        ("/translate", libre | {"target": "xx"}, 400),
        ("/translate", libre | {"q": "a" * 20001}, 400),
        ("/translate", "[" * 5000, 400),
        ("/translate_file", libre, 403),
        ("/v1/translate", {"text": text, "beams": 3}, 400),
        ("/v1/translate", {"text": text, "model": "none"}, 404),
        ("/v1/attend", {"text": ""}, 400),
        ("/v1/chat/completions", {"messages": []}, 400),
        ("/none", libre, 404),
    ]


class Soak:
    def __init__(self, port, requests, seconds):
        self.port, self.requests, self.seconds, self.begin = port, requests, seconds, time.monotonic()
        self.lock = threading.Lock()
        self.first, self.counts, self.answered, self.wrong = {}, collections.Counter(), 0, []

    def elapsed(self):
        return time.monotonic() - self.begin

    def progress(self):
        """1 at the end."""
        return self.elapsed() / self.seconds if self.seconds else self.answered / self.requests

    def note(self, kind, wrong=None):
        with self.lock:
            self.counts[kind] += 1
            self.answered += 1
            if wrong:
                self.wrong.append(f"{kind}: {wrong}")

    def ask(self, connection, method, path, body, headers):
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        return answer.status, comparable(answer.read())

    def good(self, random_of, connection, text):
        requests = list(good_requests(text))
        name, _, method, path, body, headers = random_of.choices(requests, [each[1] for each in requests])[0]
        status, answer = self.ask(connection, method, path, body, headers)
        if status == 503:  # the queue is full: allowed, and counted
            return self.note("503")
        if status != 200:
            return self.note(name, f"status {status}: {answer[:200]!r}")
        with self.lock:
            first = answer if name == "metrics" else self.first.setdefault((name, text), answer)
        self.note(name, None if first == answer else f"{text!r}: {answer[:300]!r} after {first[:300]!r}")

    def bad(self, random_of, connection, text):
        path, body, expected = random_of.choice(bad_requests(text))
        status, answer = self.ask(connection, "POST", path, body, JSON)
        self.note("bad", None if status in (expected, 503) else f"{path}: status {status} instead of {expected}: {answer[:200]!r}")

    def leave(self, random_of, text):
        """Sends a part of a request, or a request, and does not wait."""
        whole = request("/v1/translate", {"text": [text] * 4, "model": "pair"})
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as plain:
            plain.sendall(random_of.choice([whole, whole[:-9], whole[:30], b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n"]))
        self.note("left")

    def client(self, number):
        random_of = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        while self.progress() < 1:
            chance, text = random_of.random(), random_of.choice(SENTENCES)
            try:
                if chance < 0.86:
                    self.good(random_of, connection, text)
                elif chance < 0.93:
                    self.bad(random_of, connection, text)
                else:
                    self.leave(random_of, text)
            except (OSError, http.client.HTTPException) as error:
                self.note("connection", repr(error))
                connection.close()
        connection.close()


def resident(process):
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="ascii")).group(1)) / 1024


def left_over(port):
    """Requests and connections that are left, beside the one that asks."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    names = ("heed_requests_running", "heed_requests_queued", "heed_connections")
    return sum(int(re.search(rf"^{name} (\d+)", text, re.M)[1]) for name in names) - 1


def run(options, work):
    command = [options.heed, "serve", "--port", "0", "--threads", "2", *model_arguments(work)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = next(match for line in server.stderr if (match := re.search(r"http://[^ ]*:(\d+)/", line)))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        port, descriptors = int(address.group(1)), len(os.listdir(f"/proc/{server.pid}/fd"))
        soak = Soak(port, options.requests, options.seconds)
        clients = [threading.Thread(target=soak.client, args=(n,)) for n in range(options.clients)]
        for client in clients:
            client.start()
        memory = []
        while any(client.is_alive() for client in clients):
            time.sleep(0.1)
            memory.append((soak.progress(), resident(server.pid)))
        end = time.monotonic() + 600
        while left_over(port) > 0 or len(os.listdir(f"/proc/{server.pid}/fd")) > descriptors:
            if time.monotonic() > end:
                soak.wrong.append(f"left: {left_over(port)} requests and connections, descriptors of {descriptors} before")
                break
            time.sleep(0.1)
        elapsed = soak.elapsed()
    finally:
        server.terminate()
        status = server.wait()
    if status != 0:
        soak.wrong.append(f"the server ended with status {status}")
    second = statistics.median(megabytes for at, megabytes in memory if 0.2 <= at < 0.4)
    last = statistics.median(megabytes for at, megabytes in memory if at >= 0.8)
    if last > second * (1 + options.most_growth):
        soak.wrong.append(f"memory grew from {second:.0f} to {last:.0f} MB")
    missing = {each[0] for each in good_requests("")} - set(soak.counts)
    if missing:
        soak.wrong.append(f"not a single request: {sorted(missing)}")
    for each in soak.wrong[:20]:
        print(each)
    print(dict(soak.counts))
    print(f"{soak.answered:,} requests in {elapsed:.0f} s, {len(soak.wrong)} wrong, {soak.counts['503']} refused; "
          f"memory {last / second - 1:+.1%} ({second:.0f} MB, then {last:.0f} MB)")  # fmt: skip
    return 1 if soak.wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--seconds", type=float, help="instead of --requests")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--most-growth", type=float, default=0.1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_models(options.heed, options.model, Path(folder))
        return run(options, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
