#!/usr/bin/env python3
"""What `heed serve` still answers under more load than it can take.

    bench/overload.py HEED MODEL SENTENCES [--times 1 4] [--seconds 8] [--turns 3] [--threads 2] [--queue 64]

HEED is the command, MODEL a model directory (de-en), SENTENCES a file with a sentence in each line. The capacity is
measured first: clients enough to keep the queue from running empty, each of which sends its next sentence after an
answer. Then requests arrive at a rate of so many times the capacity, whatever the answers (an open loop), in turns.
Printed: good answers a second (goodput), and how long a 503 takes. The clients are processes on the same machine.
"""
import argparse
import json
import multiprocessing
import random
import re
import socket
import statistics
import subprocess
import threading
import time

PROCESSES = 2


def request(sentence):
    body = json.dumps({"q": sentence, "source": "de", "target": "en"}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def exchange(connection, message):
    """The status of an answer, which is read whole."""
    connection.sendall(message)
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(65536)
        if not part:
            raise ConnectionError("the server closed the connection")
        answer += part
    head, body = answer.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(body) < length:
        body += connection.recv(65536)
    return int(head[9:12])


def load(port, messages, clients, rate, seconds, results):
    """Puts (status, seconds) of each answer into `results`. `rate` is that of all clients here; 0: a closed loop."""
    done = []
    end = time.monotonic() + seconds

    def run(number):
        draw = random.Random(number)
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        arrival = time.monotonic()
        while True:
            if rate > 0:  # arrivals of a Poisson process
                arrival += draw.expovariate(rate / clients)
                time.sleep(max(0, min(arrival, end) - time.monotonic()))
            start = time.monotonic()
            if start >= end:
                return
            done.append((exchange(connection, draw.choice(messages)), time.monotonic() - start))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(done)


def measure(port, messages, clients, rate, seconds):
    results = multiprocessing.Queue()
    arguments = (port, messages, clients // PROCESSES, rate / PROCESSES, seconds, results)
    processes = [multiprocessing.Process(target=load, args=arguments) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    done = [each for _ in processes for each in results.get()]
    for process in processes:
        process.join()
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("sentences")
    parser.add_argument("--times", type=float, nargs="+", default=[1, 4])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--queue", type=int, default=64)
    arguments = parser.parse_args()
    sentences = [line.rstrip("\n").split("\t")[0] for line in open(arguments.sentences)]
    messages = [request(sentence) for sentence in sentences if sentence]
    server = subprocess.Popen([arguments.heed, "serve", "--model", arguments.model, "--port", "0", "--threads",
                               str(arguments.threads), "--max-queue", str(arguments.queue)],
                              stderr=subprocess.PIPE, text=True)
    try:
        port = next(int(found[1]) for line in server.stderr if (found := re.search(r"http://\S+?:(\d+)/", line)))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        measure(port, messages, 32, 0, 2)  # warm-up
        goodput = {times: [] for times in [0, *arguments.times]}
        refused = {times: [] for times in goodput}
        for _ in range(arguments.turns):
            for times in goodput:
                capacity = statistics.median(goodput[0]) if goodput[0] else 0
                clients = arguments.queue if times == 0 else 512
                done = measure(port, messages, clients, times * capacity, arguments.seconds)
                unexpected = {status for status, _ in done} - {200, 503}
                if unexpected:
                    raise SystemExit(f"unexpected answers: {unexpected}")
                goodput[times].append(sum(status == 200 for status, _ in done) / arguments.seconds)
                refused[times] += [seconds for status, seconds in done if status == 503]
        print("| load | good answers a second | share of the capacity | 503 a second | their p50 | p99 |")
        print("| --- | --- | --- | --- | --- | --- |")
        capacity = statistics.median(goodput[0])
        for times, found in goodput.items():
            name = f"{arguments.queue} clients in a closed loop" if times == 0 else f"{times:g} times the capacity"
            late = sorted(refused[times])
            quantiles = [f"{late[int(share * (len(late) - 1))] * 1000:.1f} ms" if late else "" for share in (0.5, 0.99)]
            share = statistics.median(found) / capacity
            print(f"| {name} | {statistics.median(found):.0f} | {share:.0%} | "
                  f"{len(late) / arguments.turns / arguments.seconds:.0f} | {quantiles[0]} | {quantiles[1]} |")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
