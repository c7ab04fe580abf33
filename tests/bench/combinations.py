"""Finds the minimal unique column combinations of a table with Desbordante.

python3 combinations.py FILE.csv: prints a line for each of its algorithms: its name, and the milliseconds that the search took
without reading the file, the quickest of five."""

import sys
import time

import desbordante
import pandas

data = pandas.read_csv(sys.argv[1], dtype=str, keep_default_na=False).drop_duplicates()
for name in ("HPIValid", "HyUCC", "PyroUCC"):
    times = []
    for _ in range(5):
        algorithm = getattr(desbordante.ucc.algorithms, name)()
        algorithm.load_data(table=data)
        start = time.perf_counter()
        algorithm.execute()
        times.append(1000 * (time.perf_counter() - start))
    print(name, round(min(times), 2), flush=True)
