"""Common parts of the scripts that group sentences by length."""

import subprocess
from pathlib import Path

DRAW = Path(__file__).resolve().parent.parent / "build" / "bin" / "heed_draw_curves"


def range_name(group):
    """(low, high) number of source words; 1000 means no limit."""
    low, high = group
    if high >= 1000:
        return f"{low} and more"
    return str(low) if low == high else f"{low} to {high}"


def draw(path, title, x_name, y_name, series):
    """Draws {name: [(x, y), ...]} if heed_draw_curves was built."""
    if not DRAW.exists():
        return
    points = "".join(f"{name}\t{x}\t{y}\n" for name, curve in series.items() for x, y in curve)
    subprocess.run([str(DRAW), str(path), title, x_name, y_name], input=points, text=True, check=True)
