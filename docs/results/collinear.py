#!/usr/bin/env python3
"""Regressions with collinear columns, fitted with privacy and without.

    python3 collinear.py D3P NAME EPSILONS SEEDS SHARED

fits each table in ./collinear with the program D3P at each of EPSILONS (1,4), with SEEDS noise seeds, and prints by
table and epsilon, over the coefficients: the share of 90 % intervals that hold the mean without privacy, the median
width in standard deviations without privacy, the root mean square and the maximum of z (the distance from that mean,
by the sd), and the share that is resolved, with the part of these that hold and their largest z. NAME.csv gets every
interval. SHARED is the folder with data/abalone.
"""
import os
import subprocess
import sys

import numpy as np
import pandas as pd

# name: kind of columns, how far they are from collinear, records, family
TABLES = {
    "total, logistic": ("total", 0, 10000, "bernoulli"),
    "total ± .03, logistic": ("total", 0.03, 10000, "bernoulli"),
    "total ± .1, logistic": ("total", 0.1, 10000, "bernoulli"),
    "total ± .1, logistic, N 3000": ("total", 0.1, 3000, "bernoulli"),
    "total ± .03, Poisson": ("total", 0.03, 10000, "poisson"),
    "total ± .1, Poisson": ("total", 0.1, 10000, "poisson"),
    "total ± .1, Poisson, N 3000": ("total", 0.1, 3000, "poisson"),
    "total ± .1, normal, 12 groups": ("total", 0.1, 10000, "normal"),
    "lengths, logistic": ("lengths", 0.1, 10000, "bernoulli"),
    "lengths, logistic, N 3000": ("lengths", 0.3, 3000, "bernoulli"),
    "abalone, rings": ("length diameter whole_weight shucked_weight", None, 4177, "poisson"),
    "abalone, all columns": ("length diameter height whole_weight shucked_weight viscera_weight shell_weight", None, 4177, "poisson"),
    "abalone, rings > 9": ("length diameter height whole_weight shucked_weight viscera_weight shell_weight", None, 4177, "bernoulli"),
}


def drawn(kind, off, n, family):
    """A table with a total of two columns that is off by a normal, or with four lengths that differ by a part."""
    r = np.random.default_rng(7)
    f = pd.DataFrame()
    if kind == "total":
        x, s, u = r.normal(size=(3, n))
        f["x"], f["s"], f["total"], f["u"] = x, s, x + s + off * r.normal(size=n), u + 0.5 * x
        eta = 0.5 * f.x - 0.3 * f.s + 0.2 * f.u
    else:
        z = r.normal(size=n)
        for k in range(4):
            f[f"length{k}"] = 100 * np.exp(0.2 * z + 0.2 * off * r.normal(size=n))
        f["dose"] = r.gamma(2, 10, size=n)
        eta = 8 * np.log(f.length0 / f.length1) + 0.02 * (f.dose - 20)
    f = f.round(3)
    if family == "bernoulli":
        f["y"] = (r.logistic(size=n) < eta).astype(int)
    elif family == "poisson":
        f["y"] = r.poisson(np.exp(0.5 * eta))
    else:
        f["g"], f["y"] = r.integers(0, 12, size=n), (eta + r.normal(size=n)).round(3)
    return f


def written(name, shared):
    """The table and its model file, with bounds alone, as d3p init writes them."""
    kind, off, n, family = TABLES[name]
    path = name.replace(" ", "_").replace(">", "over").replace(",", "")
    if off is None:
        f, predictors, response = pd.read_csv(os.path.join(shared, "data/abalone/abalone.csv")), ["sex"] + kind.split(), "rings"
    else:
        f = drawn(kind, off, n, family)
        predictors, response = [c for c in f if c not in ("y", "g")], "y"
    lines = []
    for c in predictors + [response] + (["g"] if "g" in f else []):
        v = f[c]
        if c == "sex":
            lines.append(f"    {c}: {{type: category, levels: [F, I, M]}}")
        elif c == "g":
            lines.append(f"    {c}: {{type: category, levels: 0..11}}")
        elif c == "y" and family == "bernoulli":
            lines.append(f"    {c}: {{type: binary}}")
        elif c == "rings" or c == "y" and family == "poisson":
            lines.append(f"    {c}: {{type: integer, lower: 0, upper: {v.max() + 5}}}")
        else:
            lines.append(f"    {c}: {{type: real, lower: {np.floor(v.min() - (off is not None))}, upper: {np.ceil(v.max() + (off is not None))}}}")
    if off is None and family == "bernoulli":
        response = "rings > 9"
    formula = f"{response} ~ {' + '.join(predictors)}" + (" + (1 | g)" if "g" in f else "")
    f.to_csv(path + ".csv", index=False)
    with open(path + ".yaml", "w") as file:
        file.write(f"d3p: 1\nname: collinear\ndata:\n  unit: {{entity: record, rows_per_unit: 1}}\n  rows: {{public: {n}}}\n  columns:\n"
                   + "\n".join(lines) + f'\nmodel: {{formula: "{formula}", family: {family}}}\n')
    return path


def fitted(program, path, out, *arguments):
    subprocess.run(["rm", "-rf", out])
    subprocess.run([program, *arguments, path + ".csv", "--model", path + ".yaml", "--out", out, "--quiet"], capture_output=True)
    s = pd.read_csv(out + "/release/summary.csv")
    return s[s.variable.str.startswith("b[")]


def main():
    program, name, epsilons, seeds, shared = sys.argv[1:6]
    program, shared = os.path.abspath(program), os.path.abspath(shared)
    os.makedirs("collinear", exist_ok=True)
    os.chdir("collinear")
    rows = []
    for table in TABLES:
        path = written(table, shared)
        alone = fitted(program, path, path + ".nonprivate", "fit-nonprivate")
        for epsilon in epsilons.split(","):
            for seed in range(int(seeds)):
                own = fitted(program, path, f"{path}.{name}", "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(seed + 1))
                both = own.merge(alone[["variable", "mean", "sd"]], on="variable", suffixes=("", "_alone"))
                rows.append(both.assign(table=table, epsilon=float(epsilon), seed=seed))
    t = pd.concat(rows)
    t["hold"] = (t.q5 <= t.mean_alone) & (t.mean_alone <= t.q95)
    t["z"], t["width"], t["resolved"] = (t["mean"] - t.mean_alone) / t.sd, t.sd / t.sd_alone, t.verdict == "resolved"
    t.to_csv(name + ".csv", index=False)
    rms, top = lambda z: (z**2).mean() ** 0.5, lambda z: z.abs().max()
    by = ["table", "epsilon"]
    out = t.groupby(by, sort=False).agg(hold=("hold", "mean"), width=("width", "median"), rms_z=("z", rms), max_z=("z", top), resolved=("resolved", "mean"))
    print(out.join(t[t.resolved].groupby(by).agg(resolved_hold=("hold", "mean"), resolved_max_z=("z", top))).round(2).to_string())


if __name__ == "__main__":
    main()
