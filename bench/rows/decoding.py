"""A language model, one sequence: `heed generate` against llama.cpp, on the same real weights (SmolLM2-135M-Instruct).

Both sides continue the same ids greedily, Heed as a whole process. The rate of decoding is that of the tokens between a
short and a long continuation, that of reading a prompt the tokens between a short and a long prompt, so that start and
loading are taken off. A step of decoding has to read all weights once, so its limit is the bandwidth of memory. Heed
makes no drafts here: llama.cpp makes none either.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import real_models  # noqa: E402
from harness import CannotRun, Contest, Disagree, clock_of_commands  # noqa: E402
from peer_process import PeerProcess, require_heed_and  # noqa: E402
from training_contest import own_peak, run_and_measure  # noqa: E402

SHAPE = dict(width=576, inner=1536, layers=30, keys=192, vocabulary=49152)
TEXT = (
    "A library of the old town had three rooms. In the first there were maps, in the second books on plants and animals, "
    "and in the third, which was locked, nobody knew. One winter a new librarian came, found the key behind a clock and"
)
SHORT, LONG = 2, 130  # tokens of the continuations
PROMPTS = 13, 577  # tokens of the prompts
COMPARED = 16
# Heed's precision, the peer's file, bytes of a weight in Heed, goals for decoding and for reading a prompt
KINDS = [
    ("float32", "BF16", 2, 1.7, 1.5),  # weights stay in bfloat16 in memory
    ("bfloat16", "BF16", 2, 1.7, 1.5),
    ("int8", "Q8_0", 1, 2.5, 2.5),
    ("int4", "Q4_0", 0.625, 2, None),
]


def weights_of_a_step():
    """Of the layers, and the embedding, which is the output layer, too."""
    width = SHAPE["width"]
    layer = 2 * width * (width + SHAPE["keys"]) + 3 * width * SHAPE["inner"]
    return SHAPE["layers"] * layer, SHAPE["vocabulary"] * width


class LanguageModel(Contest):
    unit = "tokens/s"

    def __init__(self, options, kind):
        self.options = options
        self.precision, self.peer_kind, self.weight_bytes = kind[:3]
        self.worker = None
        self.heed_memory = self.peer_memory = 0

    def prepare(self):
        self.command = require_heed_and(("llama_cpp", "transformers", "gguf"))
        self.folder = real_models.smollm2_directory(self.command, self.precision)
        job = {"file": str(real_models.smollm2_in(self.peer_kind)), "threads": self.options.threads}
        self.worker = PeerProcess(__file__, job)
        self.text_ids = self.worker.answer()["ids"]

    def generate(self, ids, tokens):
        """The command for a continuation. Without a tokenizer, Heed reads and writes ids."""
        command = [self.command, "generate", "--model", self.folder, "--greedy", "--ignore-end", "--json", "--quiet"]
        command += ["--precision", self.precision, "--threads", self.options.threads, "--max-tokens", tokens]
        command += ["--draft-tokens", 0]
        return [str(each) for each in [*command, " ".join(map(str, ids))]]

    def compare(self):
        prompt = self.text_ids
        done = subprocess.run(self.generate(prompt, COMPARED), capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotRun(done.stderr.strip())
        ours = json.loads(done.stdout)["ids"][-COMPARED:]
        theirs = self.worker.ask(json.dumps({"prompt": prompt, "tokens": COMPARED}))["ids"]
        same = next((n for n, (a, b) in enumerate(zip(ours, theirs)) if a != b), COMPARED)
        if self.precision == "float32" and same < COMPARED // 2:
            raise Disagree(f"only the first {same} of {COMPARED} tokens are the same")
        return f"first {same} of {COMPARED} tokens the same"

    def runs(self):
        """(prompt, tokens) of the shorter and the longer run, and the tokens between them."""
        raise NotImplementedError

    def rate(self, seconds_of):
        """Tokens a second between the shorter and the longer run. Of each the shorter of two times counts: in a virtual
        machine, whoever is the first to touch memory waits for it."""
        *both, between = self.runs()
        short, long = (min(seconds_of(ids, tokens) for _ in range(2)) for ids, tokens in both)
        return between / (long - short)

    def heed(self):
        def seconds_of(ids, tokens):
            begin = clock_of_commands()
            memory = run_and_measure(self.generate(ids, tokens), stderr=subprocess.DEVNULL)
            self.heed_memory = max(self.heed_memory, memory)
            return clock_of_commands() - begin

        return self.rate(seconds_of)

    def peer(self):
        def seconds_of(ids, tokens):
            request = {"prompt": ids, "tokens": tokens, "clock": self.options.clock}
            answer = self.worker.ask(json.dumps(request))
            self.peer_memory = answer["memory"]
            return answer["seconds"]

        return self.rate(seconds_of)

    def memory(self):
        return self.heed_memory, self.peer_memory

    def close(self):
        if self.worker:
            self.worker.close()


class Decoding(LanguageModel):
    limit = "bandwidth"

    def __init__(self, options, kind):
        super().__init__(options, kind)
        self.goal = kind[3]
        self.name = f"decoding SmolLM2-135M, one sequence: {self.precision}, llama.cpp {self.peer_kind}"
        layers, vocabulary = weights_of_a_step()  # vocabularies stay in 8 bits
        self.operations = layers * self.weight_bytes + vocabulary * max(1, self.weight_bytes)

    def runs(self):
        return (self.text_ids, SHORT), (self.text_ids, LONG), LONG - SHORT


class Prompt(LanguageModel):
    limit = "float32"

    def __init__(self, options, kind):
        super().__init__(options, kind)
        self.goal = kind[4]
        self.name = f"prompt of {PROMPTS[1]} tokens, SmolLM2-135M: {self.precision}, llama.cpp {self.peer_kind}"
        self.operations = 2 * weights_of_a_step()[0]

    def runs(self):
        long = (self.text_ids * (PROMPTS[1] // len(self.text_ids) + 1))[: PROMPTS[1]]
        return (long[: PROMPTS[0]], 1), (long, 1), PROMPTS[1] - PROMPTS[0]


def contests(options):
    for contest in (Decoding, Prompt):
        for kind in KINDS:
            yield contest(options, kind)


# ---- The peer, in its own process --------------------------------------------------------------------------


class LlamaCpp:
    """Through the C interface: the Python class copies all logits of a prompt."""

    def __init__(self, job):
        self.api = api = real_models.llama_cpp()
        api.llama_backend_init()
        self.model = api.llama_model_load_from_file(job["file"].encode(), api.llama_model_default_params())
        settings = api.llama_context_default_params()
        settings.n_ctx = 1024
        settings.n_batch = settings.n_ubatch = 640  # the whole prompt at once
        settings.n_threads = settings.n_threads_batch = job["threads"]
        self.context = api.llama_init_from_model(self.model, settings)

    def tokenize(self, text):
        ids = (self.api.llama_token * 1024)()
        vocabulary = self.api.llama_model_get_vocab(self.model)
        count = self.api.llama_tokenize(vocabulary, text.encode(), len(text.encode()), ids, 1024, False, False)
        return list(ids[:count])

    def generate(self, prompt, tokens):
        import numpy

        self.api.llama_memory_clear(self.api.llama_get_memory(self.context), True)
        made, ids = [], prompt
        for _ in range(tokens):
            array = (self.api.llama_token * len(ids))(*ids)  # the batch points to it
            if self.api.llama_decode(self.context, self.api.llama_batch_get_one(array, len(ids))) != 0:
                raise RuntimeError("llama_decode failed")
            logits = numpy.ctypeslib.as_array(self.api.llama_get_logits_ith(self.context, -1), (SHAPE["vocabulary"],))
            made.append(int(logits.argmax()))
            ids = made[-1:]
        return made


def serve(job):
    """Answers each line: the ids that follow a prompt, the seconds that they took, and the peak memory in MB."""
    peer = LlamaCpp(job)
    print(json.dumps({"ids": peer.tokenize(TEXT)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        now = time.process_time if request.get("clock") == "cpu" else time.perf_counter
        begin = now()
        ids = peer.generate(request["prompt"], request["tokens"])
        print(json.dumps({"ids": ids, "seconds": now() - begin, "memory": own_peak()}), flush=True)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
