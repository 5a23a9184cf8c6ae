"""The models that are part of the package."""

import os
from pathlib import Path


def models_folder() -> Path:
    """$HEED_MODELS, or the folder of the package's own models, which a package without models does not have."""
    return Path(os.environ.get("HEED_MODELS") or Path(__file__).with_name("models"))


def bundled_models() -> dict[str, Path]:
    """The directories of the bundled models by language pair, such as "de-en".

    A wheel has them, in int8, as the command `heed` of the package takes them; otherwise they are those of the folder
    $HEED_MODELS, if it is set.

        heed.Translator(heed.bundled_models()["de-en"])
    """
    folders = sorted(models_folder().glob("*-*"))
    return {folder.name: folder for folder in folders if (folder / "config.json").is_file()}
