"""Decoding one sequence with a language model: `heed generate` against generate() of transformers, on the same files.

The model has the shape of SmolLM2-135M and random weights in bfloat16. Both sides continue the same ids greedily, Heed
as a whole process. Loading, and the first tokens, are taken off: the rate is that of the tokens between a short and a
long continuation. A step has to read all weights once, so the limit is the bandwidth of memory.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import CannotRun, Contest, Disagree, clock  # noqa: E402
from peer_process import PeerProcess, require_heed_and  # noqa: E402
from training_contest import own_peak, run_and_measure  # noqa: E402

SHAPE = dict(hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3)
VOCABULARY = 49152
PROMPT = [(37 * n) % 40_000 + 100 for n in range(12)]
SHORT, LONG = 2, 98  # tokens of the continuations
COMPARED = 16


def parameters():
    """Weights that a step reads: of the layers, and the embedding, which is the output layer, too."""
    width, inner = SHAPE["hidden_size"], SHAPE["intermediate_size"]
    keys = width * SHAPE["num_key_value_heads"] // SHAPE["num_attention_heads"]
    return SHAPE["num_hidden_layers"] * (2 * width * (width + keys) + 3 * width * inner) + VOCABULARY * width


class Decoding(Contest):
    unit = "tokens/s"
    limit = "bandwidth"

    def __init__(self, options, precision, goal):
        self.options, self.precision, self.goal = options, precision, goal
        self.name = f"decoding SmolLM2-135M, one sequence: bfloat16 file in {precision}"
        self.operations = parameters() * (1 if precision == "int8" else 2)
        self.folder = self.worker = None
        self.heed_memory = self.peer_memory = 0

    def prepare(self):
        self.command = require_heed_and(("torch", "transformers"))
        self.folder = Path(tempfile.mkdtemp())
        job = {"folder": str(self.folder), "threads": self.options.threads}
        self.worker = PeerProcess(__file__, job, TRANSFORMERS_OFFLINE="1")
        self.worker.answer()  # it has written the model

    def _generate(self, tokens):
        """The command for a continuation. Without a tokenizer, Heed reads and writes ids."""
        command = [self.command, "generate", "--model", self.folder, "--greedy", "--ignore-end", "--json", "--quiet"]
        command += ["--precision", self.precision, "--threads", self.options.threads, "--max-tokens", tokens]
        return [str(each) for each in [*command, " ".join(map(str, PROMPT))]]

    def compare(self):
        done = subprocess.run(self._generate(COMPARED), capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotRun(done.stderr.strip())
        ours, theirs = json.loads(done.stdout)["ids"][-COMPARED:], self.worker.ask("ids")["ids"]
        same = sum(a == b for a, b in zip(ours, theirs))
        if self.precision == "float32" and same < COMPARED:
            raise Disagree(f"{same} of {COMPARED} tokens are the same")
        return f"{same} of {COMPARED} tokens the same"

    def heed(self):
        now = clock if self.options.clock == "wall" else children_time
        times = []
        for tokens in (SHORT, LONG):
            begin = now()
            # It says that the model has no tokenizer.
            memory = run_and_measure(self._generate(tokens), stderr=subprocess.DEVNULL)
            times.append(now() - begin)
            self.heed_memory = max(self.heed_memory, memory)
        return (LONG - SHORT) / (times[1] - times[0])

    def peer(self):
        answer = self.worker.ask(self.options.clock)
        self.peer_memory = answer["memory"]
        return answer["rate"]

    def memory(self):
        return self.heed_memory, self.peer_memory

    def close(self):
        if self.worker:
            self.worker.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def children_time():
    """Processor time of the processes that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def contests(options):
    yield Decoding(options, "float32", 1.7)
    yield Decoding(options, "int8", 2.5)


# ---- The peer, in its own process: bfloat16 or float32, whichever is faster --------------------------------


class Torch:
    def __init__(self, job):
        import torch
        import transformers

        transformers.logging.set_verbosity_error()
        torch.set_num_threads(job["threads"])
        torch.manual_seed(1)
        self.torch = torch
        config = transformers.LlamaConfig(
            vocab_size=VOCABULARY, max_position_embeddings=2048, tie_word_embeddings=True, bos_token_id=1, eos_token_id=2,
            **SHAPE,
        )
        model = transformers.LlamaForCausalLM(config).eval().to(torch.bfloat16)
        model.save_pretrained(job["folder"])
        self.models = [model, transformers.LlamaForCausalLM.from_pretrained(job["folder"], dtype=torch.float32).eval()]

    def generate(self, model, tokens):
        ids = self.torch.tensor([PROMPT])
        with self.torch.inference_mode():
            made = model.generate(
                ids, attention_mask=self.torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens,
                do_sample=False, pad_token_id=0,
            )
        return made[0, len(PROMPT) :].tolist()

    def rate(self, now):
        rates = []
        for model in self.models:
            times = []
            for tokens in (SHORT, LONG):
                begin = now()
                self.generate(model, tokens)
                times.append(now() - begin)
            rates.append((LONG - SHORT) / (times[1] - times[0]))
        self.models = [self.models[rates.index(max(rates))]]  # the other is not needed any more
        return max(rates)


def serve(job):
    """Answers each line of standard input: the first ids in float32, or the rate by a clock."""
    peer = Torch(job)
    print("{}", flush=True)
    for line in sys.stdin:
        request = line.strip()
        if request == "ids":
            answer = {"ids": peer.generate(peer.models[-1], COMPARED)}
        else:
            rate = peer.rate(time.perf_counter if request == "wall" else time.process_time)
            answer = {"rate": rate, "memory": own_peak()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
