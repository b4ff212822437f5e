"""Makes synthetic tables by MST and AIM of private-pgm (commit 5b91262 of May 2023).

    peers.py PRIVATE_PGM FOLDER TABLE PROGRAM EPSILON [ROUNDS]

reads FOLDER/TABLE-cells.csv and -domain.json, which `experiments -tasks twins -peers FOLDER`
writes, and writes FOLDER/TABLE-PROGRAM-EPSILON.csv. PROGRAM is MST or AIM. AIM's workload is
all pairs and its largest model 4 MB; ROUNDS, for a result within the hour, replaces its 16 for each
column. Needs numpy < 1.25, scipy, pandas and networkx. Modules
that private-pgm imports and these programs hardly use are replaced by a few lines.
"""
import itertools
import sys
import time
import types

import numpy as np
import pandas as pd
from scipy import sparse

pgm, folder, table, program, epsilon = sys.argv[1:6]
rounds = int(sys.argv[6]) if len(sys.argv) > 6 else None
sys.path[:0] = [pgm, pgm + "/src"]


class DisjointSet:
    def __init__(self):
        self.parent = {}

    def find(self, x):
        while self.parent.get(x, x) != x:
            x = self.parent[x]
        return x

    def union(self, x, y):
        self.parent[self.find(x)] = self.find(y)

    def connected(self, x, y):
        return self.find(x) == self.find(y)


def module(name, **members):
    m = types.ModuleType(name)
    m.__dict__.update(members)
    sys.modules[name] = m


module("disjoint_set", DisjointSet=DisjointSet)
module("hdmm")
module("hdmm.matrix", Identity=sparse.eye)
module("autodp", privacy_calibrator=None)

from mbi import Dataset  # noqa: E402
from mechanisms import aim, mst  # noqa: E402

DELTA = 1e-5
np.random.seed(1)
data = Dataset.load(f"{folder}/{table}-cells.csv", f"{folder}/{table}-domain.json")
started = time.time()
if program == "MST":
    twin = mst.MST(data, float(epsilon), DELTA)
else:
    pairs = [(pair, 1.0) for pair in itertools.combinations(data.domain, 2)]
    twin = aim.AIM(float(epsilon), DELTA, rounds=rounds, max_model_size=4).run(data, pairs)
columns = list(pd.read_csv(f"{folder}/{table}-cells.csv", nrows=0).columns)
twin.df[columns].to_csv(f"{folder}/{table}-{program}-{epsilon}.csv", index=False)
print(f"{program} {epsilon}: {time.time() - started:.0f} s")
