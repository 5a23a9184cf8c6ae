#!/usr/bin/env python3
"""Commands that are killed at random moments, up to three times, and run again.

    kills.py HEED MODEL [--kills 1000] [--seed 1] [--only "train a classifier"]

Whatever is left must be whole, and what is resumed must end with the bits of an undisturbed run. Prints how often each
command was killed before it had ended.
"""

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from interrupted_commands import argument_parser, files_of, report

MOST_IN_A_ROW = 3


def fresh(trial, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    trial.prepare(folder)


def killed(trial, folder, seconds):
    """Starts the command and kills it after so many seconds; whether it had not ended by then."""
    process = trial.start(folder)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    return process.returncode == -9


def complaints(trial, choose, kills):
    """What is wrong after `kills` kills at moments that `choose` gives."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "run"
        fresh(trial, folder)
        begin = time.monotonic()
        if failure := trial.run(folder):
            sys.exit(f"{trial.name}: {failure}")
        seconds, expected = time.monotonic() - begin, files_of(folder)
        wrong, done = [], 0
        while done < kills:
            fresh(trial, folder)
            moments = [choose.uniform(0, seconds) for _ in range(choose.randint(1, MOST_IN_A_ROW))]
            in_a_row = 0
            for moment in moments:
                if not killed(trial, folder, moment):
                    break
                in_a_row += 1
            done += in_a_row
            if in_a_row == 0:
                seconds *= 0.95  # the machine has become faster
                continue
            found = trial.check(trial, folder, expected)
            if found:
                wrong.append(f"{trial.name}, killed after {', '.join(f'{each:.3f} s' for each in moments)}: {found}")
        return done, wrong


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="of each command")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    return report(options, "kills", lambda trial: complaints(trial, choose, options.kills))


if __name__ == "__main__":
    sys.exit(main())
