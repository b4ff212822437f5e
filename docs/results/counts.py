#!/usr/bin/env python3
"""Regressions of counts that differ more than their family's, beside fit-nonprivate on the same table.

    python3 counts.py D3P NAME KINDS RECORDS EPSILONS TABLES

fits each table in ./counts with the program D3P and prints, by kind, N and epsilon: the root mean square
of z (the distance of the mean from that without privacy, by what the released sd adds to that
without), the sd by that without, and the share called resolved.
"""
import itertools
import os
import subprocess
import sys
import zlib

import numpy as np
import pandas as pd

from errors import show

SLOPES = np.array([0.3, -0.2, 0, 0.15])


def negative_binomial(r, rate, phi):
    return r.poisson(r.gamma(phi, size=len(rate)) / phi * rate)


# The family of the fit, and counts of a mean.
KINDS = {
    "poisson": ("poisson", lambda r, rate: r.poisson(rate)),
    "nb2": ("poisson", lambda r, rate: negative_binomial(r, rate, 2)),
    "nb.5": ("poisson", lambda r, rate: negative_binomial(r, rate, 0.5)),
    "zeros": ("poisson", lambda r, rate: r.poisson(1.4 * rate) * (r.uniform(size=len(rate)) > 0.3)),
    "nb": ("negative_binomial", lambda r, rate: negative_binomial(r, rate, 2)),
    "nbzeros": ("negative_binomial", lambda r, rate: negative_binomial(r, 1.4 * rate, 2) * (r.uniform(size=len(rate)) > 0.3)),
    "lognormal": ("negative_binomial", lambda r, rate: r.poisson(rate * np.exp(r.normal(size=len(rate)) - 0.5))),
}

COLUMNS = "".join(f"    x{i}: {{type: real, lower: -5, upper: 5, scale: {{center: 0, by: 1}}}}\n" for i in range(len(SLOPES)))
MODEL = """d3p: 1
data:
  unit: {{entity: person, rows_per_unit: 1}}
  rows: {{public: {n}}}
  columns:
{columns}    y: {{type: integer, lower: 0, upper: 100}}
model:
  formula: y ~ 1 + x0 + x1 + x2 + x3
  family: {family}
"""


def main():
    program, name, kinds, records, epsilons, tables = sys.argv[1:]
    os.makedirs("counts", exist_ok=True)
    rows = []
    for kind, n, table in itertools.product(kinds.split(","), map(int, records.split(",")), range(int(tables))):
        family, draw = KINDS[kind]
        r = np.random.default_rng([table, n, zlib.crc32(kind.encode())])
        x = r.normal(size=(n, len(SLOPES)))
        frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(len(SLOPES))])
        frame["y"] = np.minimum(draw(r, np.exp(1 + x @ SLOPES)), 100)
        base = f"counts/{name}-{kind}-{n}-{table}"
        frame.to_csv(base + ".csv", index=False, float_format="%.6g")
        with open(base + ".yaml", "w") as f:
            f.write(MODEL.format(n=n, columns=COLUMNS, family=family))

        def fit(out, *command):
            subprocess.run([program, *command, "--quiet", "--model", base + ".yaml", "--out", out, base + ".csv"], check=True, capture_output=True)
            summary = pd.read_csv(out + "/release/summary.csv")
            return summary[~summary.variable.str.contains("_raw")]

        exact = fit(base + "-exact", "fit-nonprivate").set_index("variable")
        for epsilon in epsilons.split(","):
            own = fit(f"{base}-{epsilon}", "fit", "--epsilon", epsilon)
            without = exact.loc[own.variable]
            rows.append(own.assign(counts=kind, n=n, epsilon=float(epsilon), exact=without["mean"].values, exact_sd=without.sd.values))
    show(pd.concat(rows), "counts", r"\[.*")


if __name__ == "__main__":
    main()
