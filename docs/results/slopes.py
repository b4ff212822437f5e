#!/usr/bin/env python3
"""Regressions with an intercept and a slope of each group, y ~ x + (1 + x | g), correlated or not.

    python3 slopes.py D3P FORMS CELLS FIRST TABLES

fits each table in ./slopes with the program D3P and prints, by cell, form and kind of variable: the share of 90 %
intervals that hold the truth, the root mean square of z, the mean sd, the shares called resolved and not, and how
many of those called resolved miss. FORMS are of |,||; CELLS are numbers of rows of CELLS below. The correlation of
intercepts and slopes is -.7, 0, .5 or .8; every third table has groups of few records.
"""
import collections
import csv
import math
import os
import shutil
import subprocess
import sys

import numpy as np

CELLS = [  # family, records, epsilon, groups
    ("normal", 3000, 3, 12), ("normal", 1000, 1, 12), ("normal", 20000, 1, 40), ("bernoulli", 5000, 3, 12), ("poisson", 5000, 3, 20),
]
COLUMNS = {
    "normal": "{type: real, lower: -8, upper: 8, scale: {center: 0, by: 1}}",
    "bernoulli": '{type: binary, levels: ["0", "1"]}',
    "poisson": "{type: integer, lower: 0, upper: 100}",
}
MODEL = """d3p: 1
name: slopes
data:
  unit: {{entity: person, rows_per_unit: 1}}
  rows: {{public: {records}}}
  columns:
    g: {{type: category, levels: 0..{last}}}
    x: {{type: real, lower: -4, upper: 4, scale: {{center: 0, by: 1}}, constant_within: none}}
    y: {column}
model:
  formula: y ~ x + (1 + x {form} g)
  family: {family}
"""


def simulate(table, cell):
    """One table, as the rows of a CSV file, and the true parameters by name."""
    family, records, _, groups = CELLS[cell]
    rng = np.random.default_rng(7000 + table * 10 + cell)
    rho, sa, sb = [-.7, 0, .5, .8][table % 4], [.8, .3][table % 2], [.3, .5][table // 2 % 2]
    g = rng.integers(0, groups, records)
    if table % 3 == 0:
        g = np.minimum(g, rng.integers(0, groups, records))
    x, e = rng.normal(size=records), rng.normal(size=(groups, 2))
    a, b = sa * e[:, 0], sb * (rho * e[:, 0] + math.sqrt(1 - rho * rho) * e[:, 1])
    level = -.2 if family == "poisson" else .3
    eta = level + a[g] + (.4 + b[g]) * x
    y = {
        "normal": lambda: np.clip(eta + rng.normal(size=records), -8, 8),
        "bernoulli": lambda: (rng.random(records) < 1 / (1 + np.exp(-eta))).astype(int),
        "poisson": lambda: np.minimum(rng.poisson(np.exp(np.minimum(eta, 5))), 100),
    }[family]()
    truth = {"Intercept": level, "b[x]": .4, "sd_g[Intercept]": sa, "sd_g[x]": sb, "cor_g": rho}
    if family == "normal":
        truth["sigma"] = 1
    for k in range(groups):
        truth[f"r_g[{k},Intercept]"], truth[f"r_g[{k},x]"] = a[k], b[k]
    return np.c_[g, x, y], truth


def main():
    d3p, forms, cells = sys.argv[1], sys.argv[2].split(","), [int(c) for c in sys.argv[3].split(",")]
    first, tables = int(sys.argv[4]), int(sys.argv[5])
    found = collections.defaultdict(list)
    os.makedirs("slopes", exist_ok=True)
    for table in range(first, first + tables):
        for cell in cells:
            family, records, epsilon, groups = CELLS[cell]
            rows, truth = simulate(table, cell)
            np.savetxt("slopes/slopes.csv", rows, fmt=["%d", "%.4f", "%.4f" if family == "normal" else "%d"], delimiter=",", header="g,x,y", comments="")
            for form in forms:
                with open("slopes/slopes.yaml", "w") as f:
                    f.write(MODEL.format(records=records, last=groups - 1, column=COLUMNS[family], form=form, family=family))
                shutil.rmtree("slopes/run", ignore_errors=True)
                subprocess.run([d3p, "fit", "--epsilon", str(epsilon), "--model", "slopes/slopes.yaml", "slopes/slopes.csv", "--threads", "1", "--quiet", "--formats", "none", "--out", "slopes/run"],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                with open("slopes/run/release/summary.csv") as f:
                    for row in csv.DictReader(f):
                        if (name := row["variable"]) in truth:
                            kind = name if not name.startswith("r_g") else "r_g[.,x]" if name.endswith(",x]") else "r_g[.,Intercept]"
                            found[cell, form, kind].append((truth[name], *(float(row[c]) for c in ("mean", "sd", "q5", "q95")), row["verdict"]))
    print("cell form variable            n  hold    z     sd  resolved  not  wrong")
    for (cell, form, kind), list_ in sorted(found.items()):
        n, hold = len(list_), [lo <= t <= hi for t, _, _, lo, hi, _ in list_]
        z = math.sqrt(sum(((m - t) / sd) ** 2 for t, m, sd, *_ in list_) / n)
        resolved = [v == "resolved" for *_, v in list_]
        wrong = sum(r and not h for r, h in zip(resolved, hold))
        print(f"{cell:4} {form:4} {kind:17} {n:4} {sum(hold) / n:5.2f} {z:5.2f} {sum(x[2] for x in list_) / n:6.3f} {sum(resolved) / n:8.2f} {sum(v == 'not' for *_, v in list_) / n:5.2f} {wrong:5}")


main()
