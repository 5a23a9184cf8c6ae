#!/usr/bin/env python3
"""Step times of a training on several machines: measured in simulated networks, and predicted by a model of cost.

    sudo bench/several_machines.py --heed build/bin/heed --pairs train.tsv [--processes 1 2 4 8] [--steps 20]

Each "machine" is a network namespace of this one, connected to a bridge by a link whose bandwidth and delay `tc netem`
limits to those of a 1 or 10 Gbit/s network; a kernel without netem limits the bandwidth only (tbf). Open MPI's mpirun starts the processes; they talk by TCP. The processors
are shared, so computing does not get faster with more machines than this one has cores; communication takes the time
that it would. Needs root, Open MPI, and iproute2.

The model of cost, for P processes, S shards, N parameters, a bandwidth of B bytes/s and a delay of d seconds:

    step = S / P shards computed on T threads
         + 4 N (k + 1) (P - 1) / P / B      bytes that each process sends: k tree nodes of gradients, and weights
         + 7 d                              rounds of messages
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

NETWORKS = {"none": None, "10 Gbit/s": (10e9, 50e-6), "1 Gbit/s": (1e9, 200e-6)}  # bandwidth, one-way delay
ROUNDS = 7
PREFIX = "heedbench"


def sh(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.DEVNULL, stderr=None if check else subprocess.DEVNULL)


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


def step_times(output):
    lines = [json.loads(line) for line in open(output / "training/metrics.jsonl")]
    seconds = [line["seconds"] for line in lines]
    return [b - a for a, b in zip(seconds, seconds[1:])][2:]  # the first steps allocate memory


def measure(arguments, processes, network, folder):
    output = folder / f"{processes}-{network}".replace("/", "").replace(" ", "")
    command = [arguments.heed, "train", "--quiet", "--preset", arguments.preset, "--pairs", arguments.pairs,
               "--shards", str(arguments.shards), "--batch-tokens", str(arguments.batch_tokens), "--threads", "1",
               "--max-steps", str(arguments.steps), "--output", str(output)]
    if processes == 1:
        sh(*command)
    else:
        with Machines(processes, NETWORKS[network]):
            hosts = ",".join(f"10.77.0.{n}" for n in range(1, processes + 1))
            mca = {"plm_rsh_agent": remote_shell(folder), "plm_rsh_no_tree_spawn": 1, "btl": "tcp,self", "pml": "ob1",
                   "btl_tcp_if_include": "10.77.0.0/24", "oob_tcp_if_include": "10.77.0.0/24",
                   "mpi_yield_when_idle": 1, "orte_keep_fqdn_hostnames": 1}
            options = [word for key, value in mca.items() for word in ("--mca", key, str(value))]
            sh("ip", "netns", "exec", f"{PREFIX}1", "mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none",
               "-n", str(processes), "--host", hosts, *options, *command)
    return statistics.median(step_times(output))


def tree_nodes(shards, processes):
    """The largest number of tree nodes that a process has (src/train/reduction_tree.cc)."""
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


def predicted(alone, shards, processes, cores, parameters, network):
    """`alone`: seconds of a step in one process with one thread."""
    share = max(math.ceil(shards / processes) / shards, 1 / cores)
    if processes == 1 or network is None:
        return alone * share
    bandwidth, delay = network
    sent = 4 * parameters * (tree_nodes(shards, processes) + 1) * (processes - 1) / processes
    return alone * share + sent / (bandwidth / 8) + ROUNDS * delay


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heed", default="build/bin/heed")
    parser.add_argument("--pairs", required=True, help="training text")
    parser.add_argument("--preset", default="small")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--paper", type=int, nargs="*", default=[16, 64], help="machines that are only predicted")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("network namespaces need root")
    cores = len(os.sched_getaffinity(0))
    if not has_netem():
        print("This kernel has no netem: links have limited bandwidth, and no delay.")
        for name, network in NETWORKS.items():
            NETWORKS[name] = network and (network[0], 0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        alone = measure(arguments, 1, "none", folder)
        info = subprocess.run([arguments.heed, "info", "--model", str(next(folder.iterdir())), "--json"], check=True,
                              capture_output=True, text=True).stdout
        parameters = json.loads(info)["parameters"]
        print(f"{parameters} parameters, {arguments.shards} shards, {cores} processors here")
        print("| processes | network | predicted, s a step | measured, s a step |\n| --- | --- | --- | --- |")
        print(f"| 1 | | {alone:.3f} | {alone:.3f} |")
        for network in arguments.networks:
            for processes in arguments.processes:
                if not 1 < processes <= arguments.shards:
                    continue
                expected = predicted(alone, arguments.shards, processes, cores, parameters, NETWORKS[network])
                found = measure(arguments, processes, network, folder)
                print(f"| {processes} | {network} | {expected:.3f} | {found:.3f} |", flush=True)
        print("\nOn paper, each machine with cores of its own and as many shards as machines, of the size measured:")
        print("| machines | network | s a step | speed relative to one machine |\n| --- | --- | --- | --- |")
        shard = alone / arguments.shards
        for network in arguments.networks:
            for processes in arguments.paper if NETWORKS[network] else []:
                step = predicted(shard * processes, processes, processes, processes, parameters, NETWORKS[network])
                print(f"| {processes} | {network} | {step:.3f} | {shard * processes / step:.1f} |")


if __name__ == "__main__":
    main()
