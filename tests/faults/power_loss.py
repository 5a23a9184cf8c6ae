#!/usr/bin/env python3
"""What is left of files after a power loss at each moment of a command.

    power_loss.py HEED MODEL --file-log LIBRARY [--seeds 3] [--step 1] [--only train]

A command is run once while file_log.cc logs what it does to a folder. A power loss is then put after each operation (with
--step N after each N-th): what was flushed before is on the disk, and of the rest nothing, everything with the last write
torn, only names (files are empty or short), only content, or with --seeds any part. Then the command is run again, or the
result is opened, and what is there must be whole: the old or the new file, the model of an undisturbed training.

Two operations reorder freely unless a flush is between them. A file's flush makes its content durable, a folder's flush
the names in it. Prints how many states there were.
"""

import hashlib
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

from interrupted_commands import argument_parser, files_of, report


class Content:
    """A file, which names may point to."""


class Disk:
    """What is durable, and the operations since then, in their order."""

    def __init__(self, folder):
        self.names, self.data, self.waiting = {}, {}, []
        for path in sorted(folder.rglob("*")):
            content = None
            if path.is_file():
                content = Content()
                self.data[content] = path.read_bytes()
            self.names[str(path.relative_to(folder))] = content
        self.latest = dict(self.names)  # as the command sees it

    def do(self, operation, path, *arguments):
        if operation == "flush":
            return self._flush(path)
        if operation == "create":
            self.latest[path] = Content()
            return self.waiting.append(("link", path, self.latest[path]))
        if operation == "mkdir":
            self.latest[path] = None
            return self.waiting.append(("link", path, None))
        if operation == "unlink":
            self.latest.pop(path, None)
            return self.waiting.append(("unlink", path))
        if operation == "rename":
            self._rename_in(self.latest, path, arguments[0])
            return self.waiting.append(("rename", path, arguments[0]))
        self.waiting.append((operation, self.latest[path], *arguments))  # write, truncate

    def _flush(self, path):
        if self.latest.get(path) is not None:
            flushed = [each for each in self.waiting if each[1] is self.latest[path]]
        else:  # a folder; "" is the outermost
            flushed = [each for each in self.waiting if path in self._folders_of(each)]
        apply(flushed, self.names, self.data)
        self.waiting = [each for each in self.waiting if each not in flushed]

    @staticmethod
    def _folders_of(operation):
        if operation[0] not in ("link", "unlink", "rename"):
            return []
        return [os.path.dirname(path) for path in operation[1:] if isinstance(path, str)]

    @staticmethod
    def _rename_in(names, old, new):
        for path in [each for each in names if each == old or each.startswith(old + "/")]:
            names[new + path[len(old) :]] = names.pop(path)

    def after_loss(self, kept):
        """The files, and folders as None, when of the waiting operations only some have come to the disk."""
        names, data = dict(self.names), dict(self.data)
        apply(kept, names, data)
        result = {}
        for path, content in sorted(names.items()):
            parent = os.path.dirname(path)
            if parent == "" or result.get(parent, b"") is None:
                result[path] = None if content is None else data.get(content, b"")
        return result

    def states(self, seeds):
        """What may be left now."""
        of_names = [each for each in self.waiting if each[0] in ("link", "unlink", "rename")]
        of_content = [each for each in self.waiting if each not in of_names]
        torn = list(self.waiting)
        if torn and torn[-1][0] == "write":
            operation, content, offset, written = torn[-1]
            torn[-1] = (operation, content, offset, written[: len(written) // 2])
        kept = [[], self.waiting, torn, of_names, of_content]
        for seed in range(seeds):
            choose = random.Random(seed)
            kept.append([each for each in self.waiting if choose.random() < 0.5])
        return [self.after_loss(each) for each in kept]


def apply(operations, names, data):
    for operation, *arguments in operations:
        if operation == "link":
            names[arguments[0]] = arguments[1]
        elif operation == "unlink":
            names.pop(arguments[0], None)
        elif operation == "rename":
            Disk._rename_in(names, *arguments)
        elif operation == "truncate":
            content, size = arguments
            data[content] = data.get(content, b"")[:size].ljust(size, b"\0")
        else:
            content, offset, written = arguments
            before = data.get(content, b"").ljust(offset, b"\0")
            data[content] = before[:offset] + written + before[offset + len(written) :]


def read_log(log, folder):
    """The operations, with numbers and bytes as such."""
    with open(f"{log}.data", "rb") as data:
        for line in log.read_text().splitlines():
            operation, path, *rest = line.split("\t")
            if operation == "write":
                yield operation, path, int(rest[0]), data.read(int(rest[1]))
            elif operation == "truncate":
                yield operation, path, int(rest[0])
            elif operation == "rename":
                yield operation, path, os.path.relpath(rest[0], folder)
            else:
                yield operation, path


def write_files(files, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, content in files.items():
        if content is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(content)


def states_of(trial, work):
    """Every different state, and what the command leaves undisturbed."""
    folder, log = work / "run", work / "log"
    folder.mkdir()
    trial.prepare(folder)
    disk = Disk(folder)
    options = trial.options
    failure = trial.run(folder, LD_PRELOAD=options.file_log, HEED_LOG_FOLDER=str(folder), HEED_LOG=str(log))
    if failure:
        sys.exit(f"{trial.name}: {failure}")
    expected = files_of(folder)
    seen, states = set(), []
    for number, operation in enumerate(read_log(log, folder)):
        disk.do(*operation)
        if number % options.step:
            continue
        for state in disk.states(options.seeds):
            key = hashlib.sha256(repr(sorted(state.items())).encode()).digest()
            if key not in seen:
                seen.add(key)
                states.append((number, operation, state))
    logged = disk.after_loss(disk.waiting)
    if logged != expected:
        unknown = [path for path in {**logged, **expected} if logged.get(path) != expected.get(path)]
        sys.exit(f"{trial.name}: the log does not say what the command did to {unknown}")
    return states, expected


def complaints(trial):
    """The number of states, and what is wrong with them."""
    with tempfile.TemporaryDirectory() as work:
        states, expected = states_of(trial, Path(work))
        wrong = []
        for number, operation, state in states:
            folder = Path(work) / "run"  # the same path: a training remembers those of its texts
            write_files(state, folder)
            found = trial.check(trial, folder, expected)
            if found:
                wrong.append(f"{trial.name}, after operation {number} ({operation[0]} {operation[1]}): {found}")
        return len(states), wrong


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--file-log", required=True, help="the library that is made of file_log.cc")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--step", type=int, default=1)
    return report(parser.parse_args(), "states", complaints)


if __name__ == "__main__":
    sys.exit(main())
