"""Permanents by The Walrus, the competitor of disclosure_lab.permanent.

python3 permanents.py random SIZE RUNS: writes a random matrix as a Postgres array, then the seconds of the quickest of some
runs of thewalrus.perm by the same kind of formula (bbfg), after one to warm up.
python3 permanents.py known SIZE: writes a matrix with weights that doubles hold exactly, its permanent, which is known, and by
which share of it thewalrus.perm is off, by bbfg and by ryser."""

import sys
import time
from fractions import Fraction
from math import perm as arrangements
from math import prod

import numpy
from thewalrus import perm

kind, size = sys.argv[1], int(sys.argv[2])
random = numpy.random.default_rng(size)


def as_array(matrix):
    rows = (",".join(repr(float(weight)) for weight in row) for row in matrix)
    return "{" + ",".join("{" + row + "}" for row in rows) + "}"


if kind == "random":
    matrix = random.random((size, size))
    print(as_array(matrix), flush=True)
    perm(random.random((4, 4)), method="bbfg")
    best = float("inf")
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter()
        perm(matrix, method="bbfg")
        best = min(best, time.perf_counter() - start)
    print(best)
else:
    # Ones with twos on the diagonal, of which k more are in n!/k! matchings; rows and columns are multiplied by numbers of
    # 20 bits, so that products are exact.
    rows, columns = (random.integers(1, 1 << 20, size) for _ in range(2))
    matrix = numpy.outer(rows, columns) * (1 + numpy.eye(size)) / 2.0**40
    plain = sum(arrangements(size, chosen) for chosen in range(size + 1))
    known = Fraction(plain) * prod(map(int, rows)) * prod(map(int, columns)) / Fraction(2) ** (40 * size)
    print(as_array(matrix))
    print(repr(float(known)))
    for method in "bbfg", "ryser":
        print(method, float(abs(Fraction(float(perm(matrix, method=method))) / known - 1)))
