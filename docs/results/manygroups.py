#!/usr/bin/env python3
"""Intercepts of many groups of unlike sizes, y ~ x + age + (1 | g), against the truth.

    python3 manygroups.py D3P GROUPS RECORDS EPSILON FIRST LAST

fits the tables FIRST to before LAST in ./manygroups with the program D3P. It prints for each table the seconds of
a processor, mean ± sd and verdict of the parameters beside the effects, and of the effects the root mean square of z
and the share of 90 % intervals that hold; then for each parameter the root mean square of z over the tables.
"""
import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd

MODEL = """d3p: 1
data:
  unit: {{entity: person, rows_per_unit: 1}}
  rows: {{public: {records}}}
  columns:
    y: {{type: real, lower: -10, upper: 15, scale: {{center: 3, by: 1}}}}
    x: {{type: real, lower: -5, upper: 5, scale: {{center: 0, by: 1}}, constant_within: none}}
    age: {{type: real, lower: 18, upper: 90, scale: {{center: 50, by: 10}}, constant_within: none}}
    g: {{type: category, levels: [{levels}]}}
model:
  formula: y ~ x + age + (1 | g)
  family: normal
"""
TRUTH = {"Intercept": 0, "b[x]": .5, "b[age]": .2, "sd_g[Intercept]": .5, "sigma": 1}


def simulate(groups, records, table):
    """One table, and the effects of its groups."""
    rng = np.random.default_rng([groups, records, table])
    size = rng.gamma(1, 1, groups)
    g = rng.choice(groups, records, p=size / size.sum())
    effects = rng.normal(0, .5, groups)
    x, age = rng.normal(0, 1, records), rng.normal(50, 10, records)
    y = 2 + effects[g] + .5 * x + .02 * age + rng.normal(0, 1, records)
    return pd.DataFrame({"y": y.round(3), "x": x.round(3), "age": age.round(1), "g": [f"s{k:04d}" for k in g]}), effects


def main():
    d3p, groups, records, epsilon, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5]), int(sys.argv[6])
    os.makedirs("manygroups", exist_ok=True)
    found = {name: [] for name in TRUTH}
    with open("manygroups/model.yaml", "w") as f:
        f.write(MODEL.format(records=records, levels=", ".join(f"s{k:04d}" for k in range(groups))))
    for table in range(first, last):
        frame, effects = simulate(groups, records, table)
        frame.to_csv("manygroups/table.csv", index=False)
        shutil.rmtree("manygroups/run", ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([d3p, "fit", "--quiet", "--epsilon", epsilon, "--model", "manygroups/model.yaml", "--out", "manygroups/run", "manygroups/table.csv"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        rows = pd.read_csv("manygroups/run/release/summary.csv").set_index("variable")
        for name, truth in TRUTH.items():
            found[name].append((rows.loc[name, "mean"] - truth) / rows.loc[name, "sd"])
        own = rows.loc[[f"r_g[s{k:04d},Intercept]" for k in range(groups)]]
        z, hold = (own["mean"] - effects) / own["sd"], (own["q5"] <= effects) & (effects <= own["q95"])
        shown = "; ".join(f"{name} {rows.loc[name, 'mean']:.3f} ± {rows.loc[name, 'sd']:.3f} {rows.loc[name, 'verdict']}" for name in TRUTH)
        print(f"{table}: {seconds:.0f} s; {shown}; effects: z {np.sqrt((z * z).mean()):.2f}, hold {hold.mean():.2f}", flush=True)
    for name, z in found.items():
        print(f"{name:16} z {np.sqrt(np.mean(np.square(z))):.2f}")


main()
