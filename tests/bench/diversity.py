"""Measures Adult with pyCANON.

python3 diversity.py FILE.csv.gz: prints a line for each of l_diversity and t_closeness: its name, and the milliseconds that
it took without reading the file."""

import sys
import time

import pandas
from pycanon import anonymity

QUASI = ["age", "education", "occupation", "relationship", "sex", "native-country"]

data = pandas.read_csv(sys.argv[1], skipinitialspace=True)
for name in ("l_diversity", "t_closeness"):
    start = time.perf_counter()
    getattr(anonymity, name)(data, QUASI, ["income"])
    print(name, round(1000 * (time.perf_counter() - start)), flush=True)
