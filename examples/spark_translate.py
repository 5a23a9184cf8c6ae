"""Translates a text file with Spark, in the Python workers of the cluster.

usage: spark-submit examples/spark_translate.py INPUT OUTPUT_DIRECTORY --model DIR [--partitions N] [--threads N]

OUTPUT_DIRECTORY gets a file for each partition (part-00000, part-00001, ...); in this order they are the translation
of INPUT, line by line. The package heed and the model directory must be on every node. With --threads above 1, give
Spark as many cores per task: --conf spark.task.cpus=N.
"""

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice

from pyspark.sql import SparkSession

LINES_PER_CALL = 1024  # a worker holds this many lines in memory


def translate_partition(lines: Iterable[str], model: str, threads: int) -> Iterator[str]:
    import heed  # in the worker: a translator does not survive the fork() that makes workers

    translator = heed.Translator(model, threads=threads)
    lines = iter(lines)
    while block := list(islice(lines, LINES_PER_CALL)):
        yield from translator.translate(block)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--model", required=True, help="model directory")
    parser.add_argument("--partitions", type=int, default=None, help="at least this many (default: Spark's)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each task")
    options = parser.parse_args()

    spark = SparkSession.builder.appName("heed-translate").getOrCreate()
    model, threads = options.model, options.threads  # what the workers get
    lines = spark.sparkContext.textFile(options.input, options.partitions)
    translated = lines.mapPartitions(lambda part: translate_partition(part, model, threads))
    translated.saveAsTextFile(options.output)
    spark.stop()


if __name__ == "__main__":
    main()
