#!/usr/bin/env python3
"""A long run of `heed serve` with good and bad requests: is every answer right, and does the memory stay?

    bench/soak.py HEED MODEL SENTENCES [--requests 100000] [--clients 32] [--threads 2]

HEED is the command, MODEL a model directory (de-en), SENTENCES a file with a sentence in each line. Each client
draws its next request at random: translations as text and as HTML, attention, languages; besides malformed JSON,
unknown fields, routes and models, too large bodies, half requests, and clients that leave before the answer. Every
answer must have the expected status, every translation of a sentence must equal the first one, and the resident
memory after the first fifth of the requests must not grow by more than a tenth and 20 MB. Exits 1 otherwise.
"""
import argparse
import collections
import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time

JSON = {"Content-Type": "application/json"}


class Soak:
    def __init__(self, port, sentences, total):
        self.port, self.sentences, self.left = port, sentences, total
        self.lock = threading.Lock()
        self.first = {}  # the first translation of each sentence
        self.counts, self.wrong = collections.Counter(), []

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def note(self, kind, wrong=None):
        with self.lock:
            self.counts[kind] += 1
            if wrong:
                self.wrong.append(f"{kind}: {wrong}")

    def same(self, kind, key, translation):
        with self.lock:
            first = self.first.setdefault(key, translation)
        self.note(kind, None if first == translation else f"{key!r} became {translation!r} after {first!r}")

    def post(self, connection, path, body, expected):
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request("POST", path, data, JSON)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status == 503:  # the queue is full: allowed, and counted
            self.note("503")
            return None
        if answer.status != expected:
            self.note(path, f"status {answer.status} instead of {expected}: {content[:200]!r}")
            return None
        return json.loads(content)

    def leave(self, data):
        """Sends a part of a request, or a request, and does not wait."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as plain:
            plain.sendall(data)

    def one(self, random_of, connection):
        chance, text = random_of.random(), random_of.choice(self.sentences)
        body = {"q": text, "source": "de", "target": "en"}
        if chance < 0.72:
            answer = self.post(connection, "/translate", body, 200)
            if answer:
                self.same("translate", text, answer["translatedText"])
        elif chance < 0.77:
            answer = self.post(connection, "/translate", body | {"q": f"<p><b>{text}</b></p>", "format": "html"}, 200)
            if answer:
                self.same("html", "html " + text, answer["translatedText"])
        elif chance < 0.80:
            answer = self.post(connection, "/v1/attend", {"text": text, "packed": True}, 200)
            if answer:
                self.same("attend", "attend " + text, answer["target"])
        elif chance < 0.83:
            connection.request("GET", "/languages")
            answer = connection.getresponse()
            self.note("languages", None if answer.read() and answer.status == 200 else f"status {answer.status}")
        elif chance < 0.91:
            path, bad, status = random_of.choice([
                ("/translate", '{"q": "Hallo"', 400), ("/translate", b'{"q": "\xff", "source": "de", "target": "en"}', 400),
                ("/translate", body | {"target": "xx"}, 400), ("/v1/translate", {"text": text, "beams": 3}, 400),
                ("/v1/translate", {"text": text, "model": "none"}, 404), ("/v1/attend", {"text": ""}, 400),
                ("/v1/attend", {"text": text, "ablate": [{"stack": "cross", "layer": 99}]}, 400),
                ("/translate", body | {"q": "a" * 20001}, 400), ("/none", body, 404),
                ("/translate", "[" * 5000, 400)])
            self.post(connection, path, bad, status)
            self.note("bad")
        else:
            data = json.dumps(body).encode()
            head = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            self.leave(random_of.choice([head + data, head + data[:9], head[:30], b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n"]))
            self.note("left")

    def client(self, number):
        random_of = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        while self.take():
            try:
                self.one(random_of, connection)
            except (OSError, http.client.HTTPException) as error:
                self.note("connection", repr(error))
                connection.close()


def resident(process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("sentences")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with open(options.sentences, encoding="utf-8") as file:
        sentences = [line.split("\t")[0].rstrip("\n") for line in file][:1000]
    server = subprocess.Popen([options.heed, "serve", "--model", options.model, "--port", "0", "--threads",
                               str(options.threads)], stderr=subprocess.PIPE, text=True)
    try:
        address = next(match for line in server.stderr if (match := re.search(r"http://[^ ]*:(\d+)/", line)))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        soak = Soak(int(address.group(1)), sentences, options.requests)
        clients = [threading.Thread(target=soak.client, args=(n,)) for n in range(options.clients)]
        begin, settled, most = time.time(), None, 0
        for client in clients:
            client.start()
        shown = options.requests
        while any(client.is_alive() for client in clients):
            time.sleep(0.2)
            if settled is None and soak.left <= options.requests * 0.8:
                settled = resident(server.pid)
            if settled is not None:
                most = max(most, resident(server.pid))
            if soak.left <= shown - options.requests / 20:
                shown = soak.left
                print(f"{options.requests - shown} requests, {resident(server.pid):.0f} MB, {time.time() - begin:.0f} s",
                      file=sys.stderr)
    finally:
        server.terminate()
        status = server.wait()
    if status != 0:
        soak.wrong.append(f"the server ended with status {status}")
    settled = settled or most
    if most > settled * 1.1 + 20:
        soak.wrong.append(f"memory grew from {settled:.0f} to {most:.0f} MB")
    print(f"{sum(soak.counts.values())} requests in {time.time() - begin:.0f} s: {dict(soak.counts)}")
    print(f"memory: {settled:.0f} MB after a fifth, at most {most:.0f} MB later")
    for each in soak.wrong[:20]:
        print(each)
    print("all answers as expected" if not soak.wrong else f"{len(soak.wrong)} wrong")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
