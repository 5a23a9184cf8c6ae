#!/usr/bin/env python3
"""How much memory Heed takes for what files, corpora and clients ask for.

    limits.py HEED MODEL [--only opens|claims|corpus|server] [--long]

MODEL is a Marian model with F16 or F32 weights, such as models/de-en.

opens: a model of the same layers, many times, as safetensors, PyTorch's file, CTranslate2's and Marian's .npz, is opened and
used (.npz: converted). The most memory that the command takes is at most twice the size of the weights and what it takes for
MODEL; where a memory cgroup can be made, it runs in one with that limit.
claims: files whose headers claim more than there is: status 1, a message that names the file, and no more memory than for
the intact model and 32 MB.
corpus: a training with a text that is larger than the memory of the cgroup in which it runs (with --long, ten times, and
one with pairs). Left out where no memory cgroup can be made.
server: clients with as many connections as the server takes, each with a large request or an answer that it does not read:
the server stays below the sum of its limits (docs/server.md), and answers the next client.

--long: larger models and corpora, and 4,096 connections. Prints the most memory of each, and what is wrong.
"""

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import weight_formats

MB = 1 << 20


# ---- Commands and their memory ----------------------------------------------------------------------------------


starter = None  # see run()


class Cgroup:
    """A memory limit for a command: version 1 or 2, whichever is there. `there` is false where none can be made."""

    def __init__(self):
        self.folder, self.there = None, False
        for parent, self.limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            with contextlib.suppress(OSError):
                folder = Path(parent) / f"heed-test-{os.getpid()}"
                folder.mkdir()
                self.folder = folder
                if (folder / self.limit).exists():
                    self.there = True
                    return
                folder.rmdir()

    def enter(self, limit):
        """What a new process does."""
        (self.folder / self.limit).write_text(str(limit))
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        if self.there:
            with contextlib.suppress(OSError):
                self.folder.rmdir()


class Done:
    def __init__(self, status, peak, out, err):
        self.status, self.peak, self.out, self.err = status, peak, out, err


def run(command, limit=None, cgroup=None):
    """Runs a command; its status, most resident memory in bytes, and output. From a small process: Linux counts the memory
    of the process that starts a command as the command's own."""
    global starter
    starter = starter or ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    return starter.submit(run_here, command, limit, cgroup).result()


def run_here(command, limit, cgroup):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        enter = (lambda: cgroup.enter(limit)) if cgroup and cgroup.there and limit else None
        process = subprocess.Popen([str(each) for each in command], stdout=out, stderr=err, preexec_fn=enter)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Done(process.returncode, used.ru_maxrss * 1024, out.read(), err.read().decode(errors="replace"))


class Models:
    """The model in F32, as often as `times` says, in folders of each format."""

    def __init__(self, options, work, times):
        self.options, self.work = options, work
        self.original = work / "original"
        command([options.heed, "convert", options.model, self.original, "--quiet"])
        tensors = weight_formats.read_safetensors(self.original / "model.safetensors")
        self.tensors, counts = weight_formats.deeper(tensors, times)
        self.config = json.loads((self.original / "config.json").read_text())
        self.config |= {"encoder_layers": counts["encoder"], "decoder_layers": counts["decoder"]}

    def folder(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.original, folder, ignore=shutil.ignore_patterns("*.safetensors"))
        (folder / "config.json").write_text(json.dumps(self.config))
        return folder

    def safetensors(self):
        folder = self.folder("safetensors")
        weight_formats.write_safetensors(folder / "model.safetensors", self.tensors)
        return folder

    def torch(self, counts=None):
        folder = self.folder("torch")
        weight_formats.write_torch(folder / "pytorch_model.bin", self.tensors, counts)
        return folder

    def npz(self, claim=None):
        folder = self.folder("npz")
        weight_formats.write_npz(folder, self.tensors, self.config, claim)
        (folder / "config.json").unlink()
        return folder

    def language_model(self):
        """A trained one of the smallest preset."""
        folder = self.work / "trained"
        if not folder.exists():
            text = self.work / "lines"
            text.write_text("".join(f"Das ist Haus {n}.\n" for n in range(12)))
            train = [self.options.heed, "train", "--task", "lm", "--text", text, "--valid-text", text, "--preset", "tiny"]
            command([*train, "--max-steps", "1", "--threads", "1", "--quiet", "--set", "tokenizer.vocabulary=300", "--output", folder])
        return folder

    def ctranslate2(self):
        folder = self.work / "ctranslate2"
        command([self.options.heed, "convert", self.safetensors(), folder, "--to", "ctranslate2", "--quiet"])
        return folder


def command(arguments):
    done = run(arguments)
    if done.status != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.err}")
    return done


# ---- Files that claim more than there is ------------------------------------------------------------------------


def replaced(models, name, content):
    """The intact model with another file; `content` is bytes, or what writes the file."""
    folder = models.safetensors()
    if callable(content):
        content(folder / name)
    else:
        (folder / name).write_bytes(content)
    return name, folder


def claimed_tensors(models, name, **entry):
    """The tensors of the intact model, of which the header describes one otherwise."""
    data = models.safetensors().joinpath("model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header[name] |= entry
    text = json.dumps(header).encode()
    return replaced(models, "model.safetensors", struct.pack("<Q", len(text)) + text + data[8 + size :])


def safetensors_header_of_2_to_the_62(models):
    return replaced(models, "model.safetensors", struct.pack("<Q", 1 << 62) + b"{}")


def safetensors_header_of_99_MB(models):
    return replaced(models, "model.safetensors", struct.pack("<Q", 99_000_000) + b"{}")


def safetensors_shape_beyond_the_file(models):
    return claimed_tensors(models, "model.shared.weight", shape=[1 << 40, 256], data_offsets=[0, 1 << 50])


def safetensors_of_a_terabyte_of_holes(models):
    def write(path):
        header = json.dumps({"model.shared.weight": {"dtype": "F32", "shape": [1 << 20, 1 << 18], "data_offsets": [0, 1 << 40]}})
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header.encode())
            file.truncate(8 + len(header) + (1 << 40))

    return "model.shared.weight", replaced(models, "model.safetensors", write)[1]


def config_of_a_vocabulary_of_2_to_the_31(models):
    config = models.config | {"vocab_size": (1 << 31) - 1, "decoder_vocab_size": (1 << 31) - 1}
    return replaced(models, "config.json", json.dumps(config).encode())


def config_of_a_width_of_a_million(models):
    return replaced(models, "config.json", json.dumps(models.config | {"d_model": 1 << 20}).encode())


def config_of_a_million_layers(models):
    return replaced(models, "config.json", json.dumps(models.config | {"encoder_layers": 1 << 20}).encode())


def vocabulary_with_a_number_of_2_to_the_31(models):
    pieces = {"</s>": 0, "<unk>": 1, "<pad>": (1 << 31) - 1}
    return replaced(models, "vocab.json", json.dumps(pieces).encode())


def sentencepiece_field_of_2_to_the_60(models):
    return replaced(models, "source.spm", b"\x0a" + b"\x80" * 8 + b"\x10" + b"\x0a\x03abc")


def sentencepiece_table_of_4_GB(models):
    # normalizer_spec (3) with a precompiled_charsmap (2) whose first word is the size of a trie
    table = struct.pack("<I", 0xFFFFFFFC) + bytes(8)
    spec = b"\x12" + bytes([len(table)]) + table
    spm = (models.original / "source.spm").read_bytes()
    return replaced(models, "source.spm", spm + b"\x1a" + bytes([len(spec)]) + spec)


def torch_storage_of_2_to_the_40(models):
    return "pytorch_model.bin", models.torch({"model.shared.weight": 1 << 40})


def torch_text_of_4_GB(models):
    folder = models.folder("torch")
    with zipfile.ZipFile(folder / "pytorch_model.bin", "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02X" + struct.pack("<I", 0xFFFFFFFF) + b"abc.")
    return "pytorch_model.bin", folder


def torch_pickle_of_256_MB_of_zeros(models):
    folder = models.folder("torch")
    with zipfile.ZipFile(folder / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/data.pkl", bytes(256 * MB))
    return "pytorch_model.bin", folder


def npz_shape_of_2_to_the_40(models):
    return "model.npz", models.npz(claim=1 << 40)


def npz_of_256_MB_of_zeros(models):
    folder = models.npz()
    (folder / "model.npz").unlink()
    with zipfile.ZipFile(folder / "model.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("special:model.yml.npy", weight_formats.npy([1 << 28], "|i1", bytes(1 << 28)))
    return "model.npz", folder


def ctranslate2_of_4_billion_variables(models):
    folder = models.ctranslate2()
    data = bytearray((folder / "model.bin").read_bytes())
    at = 4 + 2 + struct.unpack_from("<H", data, 4)[0] + 4  # behind version, name and revision of the architecture
    struct.pack_into("<I", data, at, 0xFFFFFFFF)
    (folder / "model.bin").write_bytes(data)
    return "model.bin", folder


def ctranslate2_shape_of_2_to_the_31(models):
    folder = models.ctranslate2()
    data = bytearray((folder / "model.bin").read_bytes())
    at = data.index(b"encoder/embeddings_0/weight\0") + len(b"encoder/embeddings_0/weight\0") + 1  # behind name and rank
    struct.pack_into("<I", data, at, 0x7FFFFFFF)
    (folder / "model.bin").write_bytes(data)
    return "model.bin", folder


def tokenizer_json_with_a_number_of_2_to_the_31(models):
    return tokenizer_json(models, {"a": 0, "b": (1 << 31) - 1}, [])


def tokenizer_json_with_an_added_token_of_2_to_the_31(models):
    token = {"id": (1 << 31) - 1, "content": "<s>", "special": True, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False}  # fmt: skip
    return tokenizer_json(models, {"a": 0, "b": 1}, [token])


def tokenizer_json(models, vocabulary, added):
    """A language model of three layers with this tokenizer."""
    folder = models.work / "language-model"
    shutil.copytree(models.language_model(), folder)
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    text = {"version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": None, "post_processor": None,
            "decoder": None, "model": model}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(text))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return "tokenizer.json", folder


CLAIMS = [
    safetensors_header_of_2_to_the_62,
    safetensors_header_of_99_MB,
    safetensors_shape_beyond_the_file,
    safetensors_of_a_terabyte_of_holes,
    config_of_a_vocabulary_of_2_to_the_31,
    config_of_a_width_of_a_million,
    config_of_a_million_layers,
    vocabulary_with_a_number_of_2_to_the_31,
    sentencepiece_field_of_2_to_the_60,
    sentencepiece_table_of_4_GB,
    torch_storage_of_2_to_the_40,
    torch_text_of_4_GB,
    torch_pickle_of_256_MB_of_zeros,
    npz_shape_of_2_to_the_40,
    npz_of_256_MB_of_zeros,
    ctranslate2_of_4_billion_variables,
    ctranslate2_shape_of_2_to_the_31,
    tokenizer_json_with_a_number_of_2_to_the_31,
    tokenizer_json_with_an_added_token_of_2_to_the_31,
]


# ---- What is tried ----------------------------------------------------------------------------------------------


class Trial:
    def __init__(self, options, work):
        self.options, self.work, self.complaints, self.figures = options, work, [], []
        self.cgroup = Cgroup()

    def complain(self, what):
        print(what, flush=True)
        self.complaints.append(what)

    def figure(self, what):
        print(what, flush=True)
        self.figures.append(what)

    def use(self, folder, limit=None):
        """Opens and uses a model; Marian's is converted."""
        if (folder / "model.npz").exists():
            result = self.work / "converted"
            shutil.rmtree(result, ignore_errors=True)
            return run([self.options.heed, "convert", folder, result, "--from", "marian", "--quiet"], limit, self.cgroup)
        if (folder / "tokenizer.json").exists():
            return run([self.options.heed, "generate", "--model", folder, "--max-tokens", "2", "Das"], limit, self.cgroup)
        translate = [self.options.heed, "translate", "--model", folder, "--threads", "1", "--max-length", "3", "Das ist ein Haus."]
        return run(translate, limit, self.cgroup)

    def opens(self):
        models = Models(self.options, self.work, 40 if self.options.long else 8)
        base = self.use(models.original).peak
        for make in (models.safetensors, models.torch, models.npz, models.ctranslate2):
            folder = make()
            size = max(path.stat().st_size for path in folder.iterdir())
            limit = 2 * size + base
            done = self.use(folder, limit)
            if done.status != 0:
                self.complain(f"{make.__name__}: status {done.status} in {limit // MB} MB: {done.err.strip()[-300:]}")
            elif done.peak > limit:
                self.complain(f"{make.__name__}: {done.peak // MB} MB for {size // MB} MB of weights, the limit is {limit // MB}")
            self.figure(f"{make.__name__}: {size // MB} MB of weights, {done.peak // MB} MB of memory")
            shutil.rmtree(folder)

    def claims(self):
        models = Models(self.options, self.work, 1)
        most = self.use(models.original).peak + 32 * MB
        for claim in CLAIMS:
            file, folder = claim(models)
            done = self.use(folder)
            name = claim.__name__.replace("_", " ")
            if done.status != 1 or file not in done.err:
                self.complain(f"{name}: status {done.status}: {done.err.strip()[-300:]}")
            elif done.peak > most:
                self.complain(f"{name}: {done.peak // MB} MB, at most {most // MB} were expected")
            print(f"{name}: {done.peak // MB} MB, {done.err.strip()[:200]}", flush=True)
            shutil.rmtree(folder)
        self.figures.append(f"{len(CLAIMS)} claims")

    def corpus(self):
        """A text and pairs, larger than the memory that the training may have."""
        if not self.cgroup.there:
            return self.figure("corpus: left out, since no memory cgroup can be made here")
        limit = 128 * MB
        trials = [("text", limit + limit // 4, ["--set", "tokenizer.type=bytes"])]
        if self.options.long:
            trials = [("text", 10 * limit, trials[0][2]), ("pairs", limit + limit // 4, ["--set", "tokenizer.vocabulary=300"])]
        for kind, size, settings in trials:
            path, valid = self.work / f"corpus-{kind}", self.work / f"valid-{kind}"
            write_corpus(path, kind, size)
            write_corpus(valid, kind, 200)
            data = ["--task", "lm", "--text", path, "--valid-text", valid]
            data = data if kind == "text" else ["--pairs", path, "--valid-pairs", valid]
            train = [self.options.heed, "train", *data, *settings, "--preset", "tiny", "--max-steps", "2", "--threads", "1"]
            # Version 1 of cgroups does not make a process wait for its dirty pages to be written: on a busy disk they may fill
            # the cgroup, where the kernel then kills it, however little memory the process takes.
            for _ in range(3):
                done = run([*train, "--quiet", "--output", self.work / f"trained-{kind}"], limit, self.cgroup)
                if done.status != -signal.SIGKILL:
                    break
            if done.status != 0:
                self.complain(f"{kind}: {size // MB} MB in {limit // MB} MB of memory: status {done.status}: {done.err.strip()[-300:]}")
            self.figure(f"{kind}: {size // MB} MB of corpus in {limit // MB} MB of memory")
            path.unlink()
            shutil.rmtree(self.work / f"trained-{kind}", ignore_errors=True)

    def server(self):
        """Clients that take as much as they can: large requests of which a byte is missing, answers that they do not read,
        and more work than the queue has room for."""
        connections, each = (4096, 256 * MB) if self.options.long else (300, 16 * MB)
        limits = ["--max-connections", connections, "--max-request-bytes", each, "--max-answer-bytes", each]
        limits += [] if self.options.long else ["--max-queue", 64]
        patient = ["--body-seconds", 3600, "--write-seconds", 3600, "--idle-seconds", 3600]
        arguments = [self.options.heed, "serve", "--model", f"pair={self.options.model}", "--port", "0", "--threads", "2"]
        process = subprocess.Popen([str(each) for each in arguments + limits + patient], stderr=subprocess.PIPE, text=True)
        try:
            said = next(line for line in process.stderr if "listening on" in line)
            port = int(said.rsplit(":", 1)[1].strip("/\n"))
            translated = ask(port, "/translate", SENTENCE)[1]
            base = peak_of(process.pid)
            # What docs/server.md says.
            most = base + 2 * each + connections * 288 * 1024
            large = json.dumps(SENTENCE | {"q": "a" * (MB - 200)}).encode()
            head = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(large)}\r\n\r\n"
            page = b"GET /main.js HTTP/1.1\r\nHost: x\r\n\r\n" * 16
            work = post("/v1/translate", {"text": ["Das ist ein Haus."] * 60})
            kinds = {"large requests": head.encode() + large[:-1], "answers that are not read": page, "work": work}
            for kind, data in kinds.items():
                clients = []
                for _ in range(connections - 2):
                    client = socket.create_connection(("127.0.0.1", port))
                    client.settimeout(600)
                    with contextlib.suppress(ConnectionError):
                        client.sendall(data)
                    clients.append(client)
                status, answer = ask(port, "/translate", SENTENCE)
                if status not in (200, 503) or (status == 200 and answer != translated):
                    self.complain(f"server, {kind}: the next client gets {status}: {answer[:200]!r}")
                refused = sum(is_refused(client) for client in clients)
                peak = peak_of(process.pid)
                if peak > most + (WORK if kind == "work" else 0):
                    self.complain(f"server, {kind}: {peak // MB} MB with {connections} connections, at most {most // MB} were expected")
                self.figure(f"server, {kind}: {peak // MB} MB with {connections} connections ({refused} refused), {base // MB} MB before")
                for client in clients:
                    client.close()
                wait_for(lambda: ask(port, "/translate", SENTENCE) == (200, translated), "it does not answer any more")
        finally:
            process.terminate()
            if process.wait() != 0:
                self.complain(f"server: ends with status {process.returncode}")


def write_corpus(path, kind, size):
    """Lines of about 48 bytes, or pairs of them, of which no two are the same."""
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < size:
            first = file.tell()
            lines = (f"Im Haus {first + n} steht Zimmer {(first + n) * 7919 % 9973} leer." for n in range(1000))
            file.write("".join(f"{line}\t{line.upper()}\n" if kind == "pairs" else f"{line}\n" for line in lines))


SENTENCE = {"q": "Das ist ein Haus.", "source": "de", "target": "en"}
WORK = 256 * MB


def post(path, body):
    data = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def ask(port, path, body):
    """Status and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (ConnectionError, http.client.HTTPException) as error:
        return 0, repr(error).encode()
    finally:
        connection.close()


def is_refused(client):
    client.setblocking(False)
    try:
        return b" 503 " in client.recv(64)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def peak_of(process):
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def wait_for(condition, complaint):
    end = time.monotonic() + 600
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(complaint)
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("--only", default="", choices=["opens", "claims", "corpus", "server"])
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(options, Path(folder))
        try:
            for part in (trial.opens, trial.claims, trial.corpus, trial.server):
                if options.only in ("", part.__name__):
                    part()
        finally:
            trial.cgroup.remove()
    print(f"{'; '.join(trial.figures)}; {len(trial.complaints)} complaints")
    return 1 if trial.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
