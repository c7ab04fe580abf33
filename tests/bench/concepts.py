"""Lists all concepts of a table and their minimal generators with caspailleur.

python3 concepts.py TABLE.mat: prints how many there are and the CPU seconds that it took; a line of the file has a 0 or 1
for every attribute."""

import sys
import time

from caspailleur.io import isets2bas
from caspailleur.mine_equivalence_classes import list_intents_via_LCM, list_keys

with open(sys.argv[1]) as file:
    rows = [line.strip() for line in file]
itemsets = list(isets2bas([{i for i, bit in enumerate(row) if bit == "1"} for row in rows], len(rows[0])))
start = time.process_time()
intents = list_intents_via_LCM(itemsets)
print("concepts", len(intents), "seconds", round(time.process_time() - start, 2), flush=True)
keys = list_keys(intents)
print("generators", len(keys), "seconds", round(time.process_time() - start, 2), flush=True)
