"""Models of three kinds for a server, and what requests to it look like: for server.py and soak.py."""

import json
import re
import subprocess
from pathlib import Path


def make_models(heed, translator, work):
    """In the folder `work`: pair, which translates, text, a language model, and label, a classifier, which has embeddings too."""
    (work / "pair").symlink_to(Path(translator).resolve())
    text, labels = work / "lines", work / "labels"
    text.write_text("".join(f"Das ist Haus {n}.\n" for n in range(12)))
    labels.write_text("".join(f"{n % 2}\tDas Haus {n} ist {'rot' if n % 2 else 'blau'}.\n" for n in range(40)))
    for name, task, data in (("text", "lm", text), ("label", "classify", labels)):
        train = [heed, "train", "--task", task, "--text", data, "--valid-text", data, "--preset", "tiny", "--max-steps", "2"]
        train += ["--threads", "1", "--set", "tokenizer.vocabulary=300", "--quiet", "--output", work / name]
        subprocess.run(train, check=True, stdout=subprocess.DEVNULL)


def model_arguments(work):
    return [argument for name in ("pair", "text", "label") for argument in ("--model", f"{name}={work / name}")]


def request(path, body=None, version="1.1", headers=""):
    """The bytes of a request: GET without a body, else POST."""
    data = b"" if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    length = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    return f"{method} {path} HTTP/{version}\r\nHost: x\r\n{length}{headers}\r\n".encode() + data


def comparable(body):
    """An answer without what differs between two right ones: times and identities."""
    return re.sub(rb'"(created|id)": ?("cmpl-[^"]*"|\d{10})', b"", body)
