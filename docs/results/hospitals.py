#!/usr/bin/env python3
"""Slopes of groups in tables as people have them: sbp ~ age + (1 + age | hospital).

    python3 hospitals.py D3P EPSILON RECORDS FIRST TABLES

fits each table in ./hospitals with the program D3P and prints, by kind of variable, the share of 90 % intervals that
hold the truth, the root mean square of z, the mean sd, the shares called resolved and not, and how many of those called
resolved and partly miss. No column has a scale; ages lie in 0 to 120 and pressures in 0 to 300 by their declaration.
4 % of ages and 2 % of pressures are missing, 0.3 % of pressures are keyed as 999, errors have Student's t with 4
degrees of freedom, and the sizes of 8, 15 or 30 hospitals fall as k^-1.2; rare ones have fewer than 100 records.
"""
import collections
import csv
import math
import os
import shutil
import subprocess
import sys

import numpy as np

MODEL = """d3p: 1
name: hospitals
data:
  unit: {{entity: person, rows_per_unit: 1}}
  rows: {{public: {records}}}
  columns:
    hospital: {{type: category, levels: 0..{last}}}
    age: {{type: real, lower: 0, upper: 120}}
    sbp: {{type: real, lower: 0, upper: 300}}
model:
  formula: sbp ~ age + (1 + age | hospital)
  family: normal
"""


def simulate(table, records):
    """One table as lines of a CSV file, the number of hospitals, and the true parameters with their kinds by name."""
    rng = np.random.default_rng(91000 + table)
    groups = [8, 15, 30][table % 3]
    sizes = 1 / np.arange(1, groups + 1) ** 1.2
    g = rng.choice(groups, records, p=sizes / sizes.sum())
    rho, sa, sb = [-.7, 0, .5, .8][table % 4], [8, 3][table % 2], [.2, .08][table // 2 % 2]
    e = rng.normal(size=(groups, 2))
    a, b = sa * e[:, 0], sb * (rho * e[:, 0] + math.sqrt(1 - rho * rho) * e[:, 1])
    age = np.clip(np.round(rng.gamma(9, 6, records) + 3 * rng.normal(size=records)), 18, 98)
    sbp = 110 + a[g] + (.4 + b[g]) * age + 12 * rng.standard_t(4, size=records) / math.sqrt(2)
    ages = np.where(rng.random(records) < .04, "NA", age.astype(int).astype(str))
    pressures = np.where(rng.random(records) < .02, "NA", np.round(sbp, 1).astype(str))
    pressures = np.where(rng.random(records) < .003, "999", pressures)
    truth = {
        "Intercept_raw": ("Intercept_raw", 110), "b_raw[age]": ("b_raw[age]", .4),
        "sd_hospital_raw[Intercept]": ("sd_raw[Intercept]", sa), "sd_hospital_raw[age]": ("sd_raw[age]", sb),
    }
    for k in range(groups):
        rare = " rare" if np.sum(g == k) < 100 else ""
        truth[f"r_hospital_raw[{k},Intercept]"] = ("r_raw[.,Intercept]" + rare, a[k])
        truth[f"r_hospital_raw[{k},age]"] = ("r_raw[.,age]" + rare, b[k])
    return ["hospital,age,sbp"] + [",".join(row) for row in zip(g.astype(str), ages, pressures)], groups, truth


def main():
    d3p, epsilon, records, first, tables = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    found = collections.defaultdict(list)
    os.makedirs("hospitals", exist_ok=True)
    for table in range(first, first + tables):
        lines, groups, truth = simulate(table, records)
        with open("hospitals/hospitals.csv", "w") as f:
            f.write("\n".join(lines) + "\n")
        with open("hospitals/hospitals.yaml", "w") as f:
            f.write(MODEL.format(records=records, last=groups - 1))
        shutil.rmtree("hospitals/run", ignore_errors=True)
        subprocess.run([d3p, "fit", "--epsilon", epsilon, "--quiet", "--out", "hospitals/run", "hospitals/hospitals.csv"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for row in csv.DictReader(open("hospitals/run/release/summary.csv")):
            if row["variable"] in truth:
                kind, x = truth[row["variable"]]
                found[kind].append((float(row["q5"]) <= x <= float(row["q95"]), (float(row["mean"]) - x) / float(row["sd"]), float(row["sd"]), row["verdict"]))
    print("variable                   n  hold     z      sd  resolved   not  wrong  partly and wrong")
    for kind, list_ in found.items():
        n, part = len(list_), lambda verdict: sum(v == verdict for _, _, _, v in list_)
        wrong = lambda verdict: sum(v == verdict and not held for held, _, _, v in list_)
        print(f"{kind:24} {n:4}  {sum(h for h, *_ in list_) / n:.2f}  {math.sqrt(sum(z * z for _, z, *_ in list_) / n):.2f}  {sum(s for _, _, s, _ in list_) / n:6.3f}"
              f"     {part('resolved') / n:.2f}  {part('not') / n:.2f}  {wrong('resolved'):5}  {wrong('partly'):5}")


main()
