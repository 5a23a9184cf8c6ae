#!/usr/bin/env python3
"""heed serve with clients that others have written: libretranslatepy and openai, from PyPI.

    PYTHON tests/clients.py HEED

PYTHON has both (pip install libretranslatepy openai). A language model is trained for a moment. Not part of the test suite,
which needs no packages of Python.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import openai
from libretranslatepy import LibreTranslateAPI

SENTENCE = "Der Hund schläft."
RECIPE = """[model]
arch = "gpt2"
width = 16
layers = 1
heads = 2
feed_forward_width = 32
[tokenizer]
type = "characters"
"""


def check_libretranslate(url, heed):
    client = LibreTranslateAPI(url)
    command = subprocess.run([heed, "translate", SENTENCE, "--pair", "de-en", "--quiet"], capture_output=True, check=True, text=True)
    assert client.translate(SENTENCE, "de", "en") == command.stdout.strip()
    assert client.detect("Der Hund schläft im Garten.")[0]["language"] == "de"
    assert {"code": "de", "name": "German", "targets": ["en"]} in client.languages()


def check_openai(url):
    client = openai.OpenAI(base_url=url + "v1", api_key="none")
    assert "text" in [model.id for model in client.models.list()]
    options = {"model": "text", "prompt": "the d", "max_tokens": 8, "seed": 3, "temperature": 1}
    whole = client.completions.create(**options, n=2, logprobs=3, echo=True)
    assert len(whole.choices) == 2 and all(choice.text.startswith("the d") for choice in whole.choices)
    assert len(whole.choices[0].logprobs.tokens) == len(whole.choices[0].logprobs.token_logprobs)
    one = client.completions.create(**options).choices[0].text
    parts = [part.choices[0].text for part in client.completions.create(**options, stream=True)]
    assert "".join(parts) == one and whole.choices[0].text == "the d" + one
    stopped = client.completions.create(**options, stop=[one[2]])
    assert stopped.choices[0].text == one[:one.index(one[2])] and stopped.choices[0].finish_reason == "stop"
    assert len(client.embeddings.create(model="classes", input=["a", "the dog"]).data) == 2
    try:
        client.completions.create(model="nothing", prompt="a")
        raise AssertionError("a model that is not there answers")
    except openai.NotFoundError as error:
        assert "nothing" in str(error)


def main():
    heed = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model, task, text, recipe in [
                ("text", "lm", "the dog sleeps\n", RECIPE),
                ("classes", "classify", "dogs\tthe dog sleeps\ncats\tthe cat sleeps\n",
                 RECIPE.replace("gpt2", "bert").replace('"characters"', '"wordpiece"\nvocabulary = 60'))]:
            (folder / "recipe").write_text(recipe)
            (folder / "text").write_text(200 * text)
            subprocess.run([heed, "train", "--task", task, "--text", folder / "text", "--valid-text", folder / "text",
                            "--recipe", folder / "recipe", "--max-steps", "20", "--output", folder / "m" / model, "--quiet"],
                           check=True, capture_output=True)
        server = subprocess.Popen([heed, "serve", "--port", "0", "--pair", "de-en", "--model", folder / "m/text",
                                   "--model", folder / "m/classes"], stderr=subprocess.PIPE, text=True)
        try:
            url = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+?:\d+/", line)))
            threading.Thread(target=server.stderr.read, daemon=True).start()
            check_libretranslate(url, heed)
            check_openai(url)
        finally:
            server.terminate()
            server.wait()
    print("libretranslatepy and openai get what they ask for")


if __name__ == "__main__":
    main()
