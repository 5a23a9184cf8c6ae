#!/usr/bin/env python3
"""Step times of a training on several machines: predicted by a model of cost, and measured in simulated networks.

    sudo bench/several_machines.py --pairs train.tsv [--processes 2 4 8] [--networks "1 Gbit/s" "10 Gbit/s"]

Each "machine" is a network namespace of this one, connected to a bridge by a link with the bandwidth of a 1 or 10
Gbit/s network (tc tbf), and its delay where the kernel has netem. Open MPI's mpirun starts the processes, of one thread
each; they talk by TCP. The processors are shared: computing does not get faster with more processes than processors,
and communication takes the time that it would. Needs root, Open MPI, and iproute2.

All runs go on from one training of one step, and must end with the same weights.

The model of cost, for P processes, S shards, N parameters, k tree nodes per process (reduction_tree.h), a bandwidth of B
bytes/s, a delay of d seconds, and C seconds for the forward and backward pass of all shards with P processes:

    w = 4 N (P - 1) / P / B             weights travel; gradients: k w
    b = 2/3 C / ceil(S / P)             the backward pass of a process's last shard, during which gradients travel
    e = share of the embeddings         whose gradients are final only when the backward pass ends
    t = processor time of TCP           for all bytes of all processes on this machine, measured on its loopback
    step = C + max(max(k w - b, e k w) + w, t) + (7 + sections) d

C is measured with one process and as many threads as there are processors.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

NETWORKS = {"none": None, "10 Gbit/s": (10e9, 50e-6), "1 Gbit/s": (1e9, 200e-6)}  # bandwidth, one-way delay
ROUNDS = 7  # messages that wait for each other, beside one for each section of the gradients
BACKWARD = 2 / 3  # of a step's computation
WARM_UP = 2  # steps that are not counted: the first ones allocate memory
PREFIX = "heedbench"


def sh(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.DEVNULL, stderr=None if check else subprocess.DEVNULL)


# ---- Simulated networks ----------------------------------------------------------------------------------------------

def has_netem():
    sh("ip", "netns", "add", f"{PREFIX}0")
    found = sh("tc", "-n", f"{PREFIX}0", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms", check=False)
    sh("ip", "netns", "del", f"{PREFIX}0")
    return found.returncode == 0


def limits(bandwidth, delay):
    """The arguments of tc for a link of so many bits a second and so many seconds."""
    if delay > 0:
        return ["netem", "delay", f"{delay * 1e6:.0f}us", "rate", f"{bandwidth / 1e6:.0f}mbit", "limit", "100000"]
    burst = bandwidth / 8 / 100  # of 10 ms, more than what is sent between two ticks of the timer
    return ["tbf", "rate", f"{bandwidth / 1e6:.0f}mbit", "burst", f"{burst:.0f}", "latency", "50ms"]


class Machines:
    """Network namespaces PREFIX1, PREFIX2, ... with the addresses 10.77.0.1, 10.77.0.2, ..."""

    def __init__(self, count, network):
        self.count, self.network = count, network

    def __enter__(self):
        self.remove()
        sh("ip", "link", "add", PREFIX, "type", "bridge")
        sh("ip", "link", "set", PREFIX, "up")
        for n in range(1, self.count + 1):
            name, outer, inner = f"{PREFIX}{n}", f"{PREFIX}o{n}", f"{PREFIX}i{n}"
            sh("ip", "netns", "add", name)
            sh("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
            sh("ip", "link", "set", outer, "master", PREFIX, "up")
            sh("ip", "-n", name, "addr", "add", f"10.77.0.{n}/24", "dev", inner)
            sh("ip", "-n", name, "link", "set", inner, "up")
            sh("ip", "-n", name, "link", "set", "lo", "up")
            if self.network:
                sh("tc", "-n", name, "qdisc", "add", "dev", inner, "root", *limits(*self.network))
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for n in range(1, 65):
            if pathlib.Path(f"/run/netns/{PREFIX}{n}").exists():
                sh("ip", "netns", "del", f"{PREFIX}{n}")
        sh("ip", "link", "del", PREFIX, check=False)


def remote_shell(folder):
    """The program that mpirun calls in place of ssh: ADDRESS COMMAND..."""
    path = folder / "remote-shell"
    path.write_text(f"""#!/bin/bash
while [[ $1 == -* ]]; do shift; done
number=${{1##*.}}
shift
exec ip netns exec {PREFIX}$number unshare --uts bash -c "hostname machine$number; $*"
""")
    path.chmod(0o755)
    return path


# ---- Measurements ----------------------------------------------------------------------------------------------------

class Trainings:
    """Runs that all go on from the same training of one step."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.begun = folder / "begun"
        sh(*self.command(self.begun, steps=1, threads=0))

    def command(self, output, steps, threads=1):
        a = self.arguments
        words = [a.heed, "train", "--quiet", "--preset", a.preset, "--pairs", a.pairs, "--shards", str(a.shards),
                 "--batch-tokens", str(a.batch_tokens), "--threads", str(threads), "--max-steps", str(steps),
                 "--output", str(output)]
        return words + [word for setting in a.set for word in ("--set", setting)]

    def model(self):
        """The number of parameters, and the share of the embeddings."""
        info = subprocess.run([self.arguments.heed, "info", "--model", str(self.begun), "--json"], check=True,
                              capture_output=True, text=True).stdout
        parameters = json.loads(info)["parameters"]
        config = json.loads((self.begun / "config.json").read_text())
        return parameters, config["vocab_size"] * config["d_model"] / parameters

    def run(self, processes, threads=1, network="none"):
        """Median seconds of a step, and the weights that the training ends with."""
        output = self.folder / "run"
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(self.begun, output)
        command = self.command(output, 1 + WARM_UP + self.arguments.steps, threads)
        if processes == 1:
            sh(*command)
        else:
            self.run_on_machines(processes, network, command)
        seconds = [json.loads(line)["seconds"] for line in open(output / "training/metrics.jsonl")]
        steps = [b - a for a, b in zip(seconds, seconds[1:])][WARM_UP:]
        return statistics.median(steps), (output / "model.safetensors").read_bytes()

    def run_on_machines(self, processes, network, command):
        with Machines(processes, NETWORKS[network]):
            hosts = ",".join(f"10.77.0.{n}" for n in range(1, processes + 1))
            mca = {"plm_rsh_agent": remote_shell(self.folder), "plm_rsh_no_tree_spawn": 1, "btl": "tcp,self",
                   "pml": "ob1", "btl_tcp_if_include": "10.77.0.0/24", "oob_tcp_if_include": "10.77.0.0/24",
                   "mpi_yield_when_idle": 1, "orte_keep_fqdn_hostnames": 1}
            options = [word for key, value in mca.items() for word in ("--mca", key, str(value))]
            sh("ip", "netns", "exec", f"{PREFIX}1", "mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none",
               "-n", str(processes), "--host", hosts, *options, *command)


def processor_seconds_per_byte(size=1 << 29):
    """Of sender and receiver together, by TCP over the loopback interface."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()

    def receive():
        connection, buffer, received = listener.accept()[0], bytearray(1 << 20), 0
        while received < size:
            received += connection.recv_into(buffer)

    def used():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    before, buffer, sent = used(), bytearray(1 << 20), 0
    receiver = threading.Thread(target=receive)
    receiver.start()
    sender = socket.create_connection(listener.getsockname())
    while sent < size:
        sent += sender.send(buffer)
    receiver.join()
    return (used() - before) / size


# ---- The model of cost -----------------------------------------------------------------------------------------------

def tree_nodes(shards, processes):
    """The largest number of tree nodes that a process has (src/train/reduce/reduction_tree.cc)."""
    def nodes(begin, end):
        count = 0
        while begin < end:
            size = 1
            while begin % (2 * size) == 0 and begin + size < shards and min(begin + 2 * size, shards) <= end:
                size *= 2
            begin += size
            count += 1
        return count
    bounds = [shards * n // processes for n in range(processes + 1)]
    return max(nodes(a, b) for a, b in zip(bounds, bounds[1:]))


def sections(parameters, processes):
    """src/train/reduce/parameter_slices.cc"""
    return math.ceil(parameters / (math.ceil(16 / processes) * processes * 65536))


def predicted(model, computation, shards, processes, network, processor_time_per_byte=0):
    """Seconds of a step. `processor_time_per_byte` is 0 if every process has a machine of its own."""
    parameters, embeddings = model
    if processes == 1:
        return computation
    nodes = tree_nodes(shards, processes)
    sent = 4 * parameters * (processes - 1) / processes
    tcp = sent * (nodes + 1) * processes * processor_time_per_byte
    if network is None:
        return computation + tcp
    bandwidth, delay = network
    weights = sent / (bandwidth / 8)
    gradients = nodes * weights
    backward = BACKWARD * computation / math.ceil(shards / processes)
    waiting = max(gradients - backward, embeddings * gradients) + weights
    return computation + max(waiting, tcp) + (ROUNDS + sections(parameters, processes)) * delay


def print_paper(arguments, model, shard):
    print("\nOn paper, on machines of their own, where each core computes one shard of this size per step:\n")
    print("| machines | network | s a step | speed relative to one machine |\n| --- | --- | --- | --- |")
    for network in arguments.networks:
        for machines in arguments.paper if NETWORKS[network] else []:
            step = predicted(model, shard, machines, machines, NETWORKS[network])
            print(f"| {machines} | {network} | {step:.3f} | {shard * machines / step:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heed", default="build/bin/heed")
    parser.add_argument("--pairs", required=True, help="training text")
    parser.add_argument("--preset", default="base")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the recipe")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=["10 Gbit/s", "1 Gbit/s"])
    parser.add_argument("--steps", type=int, default=3, help="that are measured; the result is their median")
    parser.add_argument("--paper", type=int, nargs="*", default=[8, 64], help="machines that are only predicted")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("network namespaces need root")
    if min(arguments.processes) < 2 or max(arguments.processes) > arguments.shards:
        sys.exit(f"--processes can be from 2 to the number of shards, {arguments.shards}")
    begin = time.monotonic()
    cores = len(os.sched_getaffinity(0))
    paper_networks = dict(NETWORKS)
    if not has_netem():
        print("This kernel has no netem: links have limited bandwidth, and no delay.")
        for name, network in NETWORKS.items():
            NETWORKS[name] = network and (network[0], 0)
    per_byte = processor_seconds_per_byte()
    with tempfile.TemporaryDirectory() as name:
        trainings = Trainings(arguments, pathlib.Path(name))
        model = trainings.model()
        alone, _ = trainings.run(1)
        all_cores, weights = trainings.run(1, threads=cores)
        print(f"{model[0]} parameters, {arguments.shards} shards, {arguments.batch_tokens} tokens a step, {cores} "
              f"processors here, TCP {per_byte * 2**30:.2f} processor-seconds per GiB\n")
        print("| processes | threads each | network | predicted, s a step | measured, s a step |")
        print("| --- | --- | --- | --- | --- |")
        print(f"| 1 | 1 | | | {alone:.3f} |\n| 1 | {cores} | | | {all_cores:.3f} |")
        for network in arguments.networks:
            for processes in arguments.processes:
                share = math.ceil(arguments.shards / processes) / arguments.shards
                computation = max(all_cores, alone * share)
                expected = predicted(model, computation, arguments.shards, processes, NETWORKS[network],
                                     per_byte / cores)
                found, found_weights = trainings.run(processes, network=network)
                print(f"| {processes} | 1 | {network} | {expected:.3f} | {found:.3f} |", flush=True)
                if found_weights != weights:
                    sys.exit("The weights differ from those of one process.")
        NETWORKS.update(paper_networks)
        print_paper(arguments, model, alone / arguments.shards)
    print(f"\nAll weights are the same. This took {time.monotonic() - begin:.0f} s.")


if __name__ == "__main__":
    main()
