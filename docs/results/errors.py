#!/usr/bin/env python3
"""Linear regressions whose errors are not normal, beside least squares on the same table.

    python3 errors.py D3P NAME SHAPES RECORDS EPSILONS TABLES

fits each table in ./errors with the program D3P and prints, by shape, N and epsilon: the root mean
square of z (the distance of the mean from least squares, by what the released sd adds to that of
least squares), the sd by that of least squares, and the share called resolved.
"""
import itertools
import os
import subprocess
import sys
import zlib

import numpy as np
import pandas as pd

K = 5  # predictors, correlated by .5
SLOPES = np.array([0.5, -0.3, 0.4, 0, 0.2])

# Errors have variance 1, but for het and hetgam, whose spread grows with x2.
SHAPES = {
    "norm": lambda r, x: r.normal(size=len(x)),
    "t4": lambda r, x: r.standard_t(4, size=len(x)) / 2**0.5,
    "gam": lambda r, x: (r.gamma(2, size=len(x)) - 2) / 2**0.5,
    "hetgam": lambda r, x: (r.gamma(3, size=len(x)) - 3) / 3**0.5 * np.exp(0.3 * x[:, 2]),
    "uni": lambda r, x: (r.uniform(size=len(x)) - 0.5) * 12**0.5,
}

COLUMNS = "".join(f"    x{i}: {{type: real, lower: -8, upper: 8}}\n" for i in range(K))
MODEL = """d3p: 1
data:
  unit: {{entity: person, rows_per_unit: 1}}
  rows: {{public: {n}}}
  columns:
{columns}    y: {{type: real, lower: -40, upper: 60}}
model:
  formula: y ~ 1 + {terms}
  family: normal
"""


def draw(shape, n, table):
    r = np.random.default_rng([table, n, zlib.crc32(shape.encode())])
    x = r.normal(size=(n, K)) @ np.linalg.cholesky(0.5 * np.eye(K) + 0.5).T
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(K)])
    frame["y"] = np.clip(2 + x @ SLOPES + SHAPES[shape](r, x), -40, 60)
    return frame


def least_squares(frame):
    design = np.c_[np.ones(len(frame)), frame.drop(columns="y")]
    hat = np.linalg.lstsq(design, frame.y, rcond=None)[0]
    s = ((frame.y - design @ hat) ** 2).mean() ** 0.5
    sd = s * np.linalg.inv(design.T @ design).diagonal() ** 0.5
    names = ["Intercept_raw", *(f"b_raw[x{i}]" for i in range(K)), "sigma_raw"]
    return pd.DataFrame({"variable": names, "exact": [*hat, s], "exact_sd": [*sd, s / (2 * len(frame)) ** 0.5]})


def show(all, by, beside_kind):
    """Prints z, sd and the share resolved of intervals with columns exact and exact_sd, by setting and kind."""
    added = (all.sd**2 - all.exact_sd**2).clip(lower=(0.3 * all.sd) ** 2) ** 0.5
    all["z"] = ((all["mean"] - all.exact) / added) ** 2
    all["sd"] /= all.exact_sd
    all["resolved"] = all.verdict == "resolved"
    all["kind"] = all.variable.str.replace(beside_kind, "", regex=True)
    out = all.groupby([by, "n", "epsilon", "kind"])[["z", "sd", "resolved"]].mean()
    out["z"] **= 0.5
    print(out.round(2).unstack("kind").swaplevel(axis=1).sort_index(axis=1).to_string(na_rep=""))


def main():
    program, name, shapes, records, epsilons, tables = sys.argv[1:]
    os.makedirs("errors", exist_ok=True)
    rows = []
    cells = itertools.product(shapes.split(","), map(int, records.split(",")), epsilons.split(","), range(int(tables)))
    for shape, n, epsilon, table in cells:
        base = f"errors/{name}-{shape}-{n}-{epsilon}-{table}"
        frame = draw(shape, n, table)
        frame.to_csv(base + ".csv", index=False, float_format="%.6g")
        with open(base + ".yaml", "w") as f:
            f.write(MODEL.format(n=n, columns=COLUMNS, terms=" + ".join(frame.columns[:K])))
        subprocess.run([program, "fit", "--quiet", "--epsilon", epsilon, "--model", base + ".yaml", "--out", base, base + ".csv"], check=True, capture_output=True)
        own = pd.read_csv(base + "/release/summary.csv").merge(least_squares(frame), on="variable")
        rows.append(own.assign(shape=shape, n=n, epsilon=float(epsilon)))
    show(pd.concat(rows), "shape", r"_raw.*")


if __name__ == "__main__":
    main()
