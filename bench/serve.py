#!/usr/bin/env python3
"""Load on `heed serve`, beside Python servers that call CTranslate2 on the same weights, in turns.

    bench/serve.py HEED MODEL SENTENCES [--clients 1 8 32] [--seconds 6] [--turns 3] [--threads 2]

HEED is the command, MODEL a model directory (de-en), SENTENCES a file with a sentence in each line. Each client
sends a sentence, waits for the answer, and sends the next, over one connection. Peers, with CTranslate2 in as many
threads as Heed: `one` translates each text by itself, as LibreTranslate does; `batching` collects the texts that
wait. All search with the beam of the model;
the share of the first 50 answers that are Heed's is printed. Needs ctranslate2,
transformers and sentencepiece from PyPI.
"""
import argparse
import collections
import http.client
import http.server
import json
import os
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time


def serve_peer(kind, directory, model, threads):
    """A Python server of a peer; says its port on standard output and never returns."""
    import ctranslate2
    import sentencepiece

    beam = json.load(open(os.path.join(model, "generation_config.json"))).get("num_beams", 4)
    source = sentencepiece.SentencePieceProcessor(os.path.join(model, "source.spm"))
    target = sentencepiece.SentencePieceProcessor(os.path.join(model, "target.spm"))
    translator = ctranslate2.Translator(directory, inter_threads=threads, intra_threads=1)
    waiting = queue.SimpleQueue()

    def translate(texts):
        pieces = [source.encode(text, out_type=str) + ["</s>"] for text in texts]
        found = translator.translate_batch(pieces, beam_size=beam, max_batch_size=16)
        return [target.decode(each.hypotheses[0]) for each in found]

    def collect():
        while True:
            work = [waiting.get()]
            while len(work) < 16:
                try:
                    work.append(waiting.get(timeout=0.002))
                except queue.Empty:
                    break
            for (_, answer), text in zip(work, translate([text for text, _ in work])):
                answer.put(text)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
            if kind == "batching":
                answer = queue.SimpleQueue()
                waiting.put((text, answer))
                translation = answer.get()
            else:
                translation = translate([text])[0]
            body = json.dumps({"translatedText": translation}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 1024
        disable_nagle_algorithm = True

    for _ in range(threads if kind == "batching" else 0):
        threading.Thread(target=collect, daemon=True).start()
    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


def load(port, sentences, clients, seconds):
    """Seconds of each answer, and how many came in a second."""
    taken, errors, end = [], collections.Counter(), time.time() + seconds

    def work(client):
        connection, at = http.client.HTTPConnection("127.0.0.1", port, timeout=60), client * 37
        while time.time() < end:
            at += 1
            body = json.dumps({"q": sentences[at % len(sentences)], "source": "de", "target": "en"})
            begin = time.time()
            connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                taken.append(time.time() - begin)
            else:
                errors[answer.status] += 1

    threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        print(f"errors: {dict(errors)}", file=sys.stderr)
    return sorted(taken), len(taken) / seconds


def answers(port, sentences):
    connection, found = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
    for sentence in sentences[:50]:
        body = json.dumps({"q": sentence, "source": "de", "target": "en"})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        found.append(json.loads(connection.getresponse().read())["translatedText"])
    return found


def main():
    if sys.argv[1] == "--peer":
        return serve_peer(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("sentences")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    sentences = [line.split("\t")[0].rstrip("\n") for line in open(options.sentences, encoding="utf-8")][:1000]
    with tempfile.TemporaryDirectory() as folder:
        converted = os.path.join(folder, "model")
        subprocess.run([os.path.join(os.path.dirname(sys.executable), "ct2-transformers-converter"), "--model",
                        options.model, "--output_dir", converted], check=True, stdout=subprocess.DEVNULL)
        threads = str(options.threads)
        servers = {
            "heed": [options.heed, "serve", "--model", options.model, "--port", "0", "--threads", threads,
                     "--precision", "float32"],
            "one": [sys.executable, __file__, "--peer", "one", converted, options.model, threads],
            "batching": [sys.executable, __file__, "--peer", "batching", converted, options.model, threads],
        }
        results, first = collections.defaultdict(list), {}
        for _ in range(options.turns):
            for name, command in servers.items():
                server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                port = 0
                for line in server.stdout:
                    if match := re.search(r"http://[^ ]*:(\d+)/", line):
                        port = int(match.group(1))
                        break
                if name not in first:
                    first[name] = answers(port, sentences)
                    same = sum(a == b for a, b in zip(first[name], first["heed"])) / len(first[name])
                    print(f"{name}: {same:.0%} of the first answers are Heed's", file=sys.stderr)
                for clients in options.clients:
                    load(port, sentences, clients, 1)  # warm
                    results[name, clients].append(load(port, sentences, clients, options.seconds))
                server.terminate()
                server.wait()
    print("| server | clients | requests a second | p50 | p95 | p99 |\n| --- | --- | --- | --- | --- | --- |")
    for clients in options.clients:
        for name in servers:
            rate = statistics.median(each[1] for each in results[name, clients])
            taken = sorted(second for each in results[name, clients] for second in each[0])
            at = [f"{1000 * taken[min(len(taken) - 1, int(share * len(taken)))]:.0f} ms" for share in (0.5, 0.95, 0.99)]
            print(f"| {name} | {clients} | {rate:.0f} | {' | '.join(at)} |")


if __name__ == "__main__":
    main()
