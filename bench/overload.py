#!/usr/bin/env python3
"""What `heed serve` still answers under more load than it can take.

    bench/overload.py HEED... MODEL SENTENCES [--times 1 4] [--seconds 5] [--turns 7] [--threads 2] [--queue 64]

HEED is the command (with several builds, each is measured, in turns), MODEL a model directory (de-en), SENTENCES a file
with a sentence in each line. The capacity is measured first: clients enough to keep the queue from running empty, each
of which sends its next sentence after an answer. Then requests arrive at a rate of so many times the capacity, whatever
the answers (an open loop), in turns. Printed, medians of the turns: good answers a second (goodput), their share of the
capacity of the same turn, how long a 503 takes, and the processor time of the clients, which share the machine with the
server: one process that waits for all its connections at once.
"""
import argparse
import collections
import json
import multiprocessing
import queue
import random
import re
import select
import socket
import statistics
import subprocess
import threading
import time

CONNECTIONS = 256


def request(sentence):
    body = json.dumps({"q": sentence, "source": "de", "target": "en"}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def is_whole(answer):
    end = answer.find(b"\r\n\r\n")
    at = answer.find(b"Content-Length: ")
    return 0 <= at < end and len(answer) - end - 4 >= int(answer[at + 16:answer.index(b"\r", at)])


def load(port, messages, clients, rate, seconds, results):
    """Puts ([(status, seconds) of each answer], processor time) into `results`. `rate` 0: a closed loop of `clients`,
    each with one request at a time; else requests arrive as a Poisson process, on connections that are idle."""
    draw, done, waiting = random.Random(1), [], {}
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
    events = select.epoll()
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        events.register(connection, select.EPOLLIN)
    of = {connection.fileno(): connection for connection in connections}
    idle = collections.deque(of)
    arrival = time.monotonic()
    end, used = arrival + seconds, time.process_time()
    while (now := time.monotonic()) < end:
        while idle and (rate == 0 or arrival <= now):
            one = idle.popleft()
            of[one].sendall(draw.choice(messages))
            waiting[one] = (now if rate == 0 else arrival, b"")
            arrival += draw.expovariate(rate) if rate else 0
        if rate and not idle and arrival <= now:
            raise SystemExit(f"{clients} connections are too few for this load")
        for one, _ in events.poll(min(end, arrival if rate else end) - now):
            begin, answer = waiting[one]
            answer += of[one].recv(65536)
            if not answer:
                raise SystemExit("the server closed a connection")
            if is_whole(answer):
                done.append((int(answer[9:12]), time.monotonic() - begin))
                del waiting[one]
                idle.append(one)
            else:
                waiting[one] = (begin, answer)
    results.put((done, time.process_time() - used))


def measure(port, messages, clients, rate, seconds):
    results = multiprocessing.Queue()
    process = multiprocessing.Process(target=load, args=(port, messages, clients, rate, seconds, results))
    process.start()
    try:
        while True:
            try:
                return results.get(timeout=1)
            except queue.Empty:
                if not process.is_alive():
                    raise SystemExit("the clients have failed") from None
    finally:
        process.join()


class Server:
    def __init__(self, command, arguments):
        self.process = subprocess.Popen(
            [command, "serve", "--model", arguments.model, "--port", "0", "--threads", str(arguments.threads),
             "--max-queue", str(arguments.queue)], stderr=subprocess.PIPE, text=True)
        self.port = next(int(found[1]) for line in self.process.stderr
                         if (found := re.search(r"http://\S+?:(\d+)/", line)))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.goodput = {times: [] for times in [0, *arguments.times]}
        self.refused = {times: [] for times in self.goodput}
        self.clients = {times: [] for times in self.goodput}

    def turn(self, times, messages, arguments):
        rate = times * statistics.median(self.goodput[0]) if times else 0
        done, used = measure(self.port, messages, CONNECTIONS if times else arguments.queue, rate, arguments.seconds)
        unexpected = {status for status, _ in done} - {200, 503}
        if unexpected:
            raise SystemExit(f"unexpected answers: {unexpected}")
        self.goodput[times].append(sum(status == 200 for status, _ in done) / arguments.seconds)
        self.refused[times] += [seconds for status, seconds in done if status == 503]
        self.clients[times].append(used / arguments.seconds)

    def print(self, arguments):
        print("| load | good answers a second | share of the capacity | 503 a second | their p50 | p99 | clients' processors |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for times, found in self.goodput.items():
            name = f"{arguments.queue} clients in a closed loop" if times == 0 else f"{times:g} times the capacity"
            late = sorted(self.refused[times])
            quantiles = [f"{late[int(share * (len(late) - 1))] * 1000:.1f} ms" if late else "" for share in (0.5, 0.99)]
            share = statistics.median(good / of for good, of in zip(found, self.goodput[0]))
            print(f"| {name} | {statistics.median(found):.0f} | {share:.1%} | "
                  f"{len(late) / arguments.turns / arguments.seconds:.0f} | {quantiles[0]} | {quantiles[1]} | "
                  f"{statistics.median(self.clients[times]):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed", nargs="+")
    parser.add_argument("model")
    parser.add_argument("sentences")
    parser.add_argument("--times", type=float, nargs="+", default=[1, 4])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--queue", type=int, default=64)
    arguments = parser.parse_args()
    sentences = [line.rstrip("\n").split("\t")[0] for line in open(arguments.sentences)]
    messages = [request(sentence) for sentence in sentences if sentence]
    servers = []
    try:
        for command in arguments.heed:
            servers.append(Server(command, arguments))
            measure(servers[-1].port, messages, 32, 0, 2)  # warm-up
        for _ in range(arguments.turns):
            for times in [0, *arguments.times]:
                for server in servers:
                    server.turn(times, messages, arguments)
        for command, server in zip(arguments.heed, servers):
            if len(servers) > 1:
                print(command)
            server.print(arguments)
    finally:
        for server in servers:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
