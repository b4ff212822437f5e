#!/usr/bin/env python3
"""Simulated tables declared by bounds alone, with default priors: how often 90 % intervals hold the truth.

    python3 defaults.py D3P FOLDER RECORDS EPSILONS TABLES [GROUPS]

draws TABLES tables for each family (age, a count within 0 to 80, a skewed income, sex and three levels; with GROUPS: age, sex,
a skewed BMI and a column that is constant within clinics, beside (1 | clinic)), fits each with the program D3P at each of
EPSILONS (.3,1,4), and prints by family, by parameter and by verdict: intervals, the share that hold, and the farthest in
standard deviations; then every one beyond 4. Noise seeds are fixed: fits of a table share none with those of another.
"""
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd

FAMILIES = ["bernoulli", "poisson", "normal", "negative_binomial", "cumulative"]
PHI, SIGMA, CUTS = 2.0, 8.0, np.array([-1.2, 0.2, 1.5])


def people(r, n, effect):
    """Predictors, their effects in the unit of the file, a sum of these about its mean, and the lines that declare them."""
    age, count = np.clip(np.round(r.normal(54, 9.4, n)), 18, 100), np.minimum(r.negative_binomial(3, 0.6, n), 80)
    income, sex, band = np.round(np.exp(r.normal(10.3, 0.6, n)).clip(0, 500000)), r.integers(0, 2, n), r.choice(["low", "mid", "high"], n, p=[0.2, 0.5, 0.3])
    b = {"age": r.normal(0, effect) / 9.4, "count": r.normal(0, effect) / 1.8, "income": r.normal(0, effect) / 22000,
         "sex": r.normal(0, effect), "band=mid": r.normal(0, effect), "band=high": r.normal(0, effect)}
    eta = b["age"] * (age - 54) + b["count"] * (count - 2) + b["income"] * (income - 35000) + b["sex"] * sex + b["band=mid"] * (band == "mid") + b["band=high"] * (band == "high")
    shift = b["age"] * 54 + b["count"] * 2 + b["income"] * 35000
    columns = ["age: {type: integer, lower: 18, upper: 100}", "count: {type: integer, lower: 0, upper: 80}", "income: {type: integer, lower: 0, upper: 500000}",
               "sex: {type: binary, levels: [0, 1]}", "band: {type: category, levels: [low, mid, high]}"]
    return {"age": age.astype(int), "count": count, "income": income.astype(int), "sex": sex, "band": band}, b, eta, shift, columns, "age + count + income + sex + band"


def patients(r, n, effect, groups, sd):
    """As people, of clinics that differ by sd."""
    clinic = r.choice(groups, n, p=r.dirichlet(np.full(groups, 3.0)))
    age, sex = np.clip(np.round(r.normal(54, 9.4, n) + 3 * r.normal(0, 1, groups)[clinic]), 18, 100), r.integers(0, 2, n)
    rural, bmi = (r.uniform(size=groups) < 0.4).astype(int)[clinic], np.exp(r.normal(3.3, 0.18, n)).clip(12, 60).round(1)
    b = {"age": r.normal(0, effect) / 9.4, "sex": r.normal(0, effect), "rural": r.normal(0, effect), "bmi": r.normal(0, effect) / 5}
    eta = b["age"] * (age - 54) + b["sex"] * sex + b["rural"] * rural + b["bmi"] * (bmi - 27) + r.normal(0, sd, groups)[clinic]
    names = [f"c{i:03d}" for i in range(groups)]
    columns = ["age: {type: integer, lower: 18, upper: 100}", "sex: {type: binary, levels: [0, 1]}", "rural: {type: binary, levels: [0, 1], constant_within: clinic}",
               "bmi: {type: real, lower: 12, upper: 60}", f"clinic: {{type: category, levels: [{', '.join(names)}]}}"]
    values = {"age": age.astype(int), "sex": sex, "rural": rural, "bmi": bmi, "clinic": [names[i] for i in clinic]}
    return values, b, eta, b["age"] * 54 + b["bmi"] * 27, columns, "age + sex + rural + bmi + (1 | clinic)"


def response(r, family, eta):
    """Values of the response, how it is declared, and the truth of its own parameters."""
    n = len(eta)
    if family == "bernoulli":
        return (r.uniform(size=n) < 1 / (1 + np.exp(-eta))).astype(int), "{type: binary, levels: [0, 1]}", {}
    if family == "normal":
        return np.round(120 + 10 * eta + r.normal(0, SIGMA, n), 1).clip(50, 250), "{type: real, lower: 50, upper: 250}", {"sigma_raw": SIGMA}
    if family == "cumulative":
        return ((eta + r.logistic(size=n))[:, None] > CUTS).sum(1), "{type: ordinal, levels: [0, 1, 2, 3]}", {}
    rate, own = np.exp(np.minimum(eta, 6)), {}
    if family == "negative_binomial":
        rate, own = rate * r.gamma(PHI, 1 / PHI, n), {"phi": PHI}
    return np.minimum(r.poisson(rate), 200), "{type: integer, lower: 0, upper: 200}", own


def table(folder, family, seed, n, groups):
    """Writes a table and its model file; returns the truth by variable."""
    r, counts = np.random.default_rng([seed, n, groups, FAMILIES.index(family)]), family in ("poisson", "negative_binomial")
    sd = {"bernoulli": 0.7, "normal": 0.6}.get(family, 0.35)
    values, b, eta, shift, columns, formula = patients(r, n, 0.2 if counts else 0.5, groups, sd) if groups else people(r, n, 0.3 if counts else 0.7)
    level = r.normal(0, 0.5) + 0.7 * counts
    y, declared, truth = response(r, family, level + eta)
    unit = 10 if family == "normal" else 1
    for name, x in b.items():
        plain = not (family == "normal" or name in ("age", "count", "income", "bmi"))
        truth[f"b[{name}]" if plain else f"b_raw[{name}]"] = unit * x
    if groups:
        truth["sd_clinic_raw[Intercept]" if family == "normal" else "sd_clinic[Intercept]"] = unit * sd
    if family == "cumulative":
        truth |= {f"thresholds_raw[{k + 1}]": cut - level + shift for k, cut in enumerate(CUTS)}
    else:
        truth["Intercept_raw"] = 120 * (family == "normal") + unit * (level - shift)
    os.makedirs(folder, exist_ok=True)
    pd.DataFrame({"y": y} | values).to_csv(f"{folder}/table.csv", index=False)
    lines = "\n".join(f"    {c}" for c in [f"y: {declared}"] + columns)
    with open(f"{folder}/model.yaml", "w") as f:
        f.write(f"d3p: 1\ndata:\n  unit: {{entity: person, rows_per_unit: 1}}\n  rows: {{public: {n}}}\n  out_of_range: clamp\n  columns:\n{lines}\n"
                f"model:\n  formula: y ~ {formula}\n  family: {family}\n")
    return truth


def fitted(d3p, folder, out, epsilon, seed):
    """The summary of a fit to the table in a folder, on one processor; None if it failed, which is printed."""
    done = subprocess.run([d3p, "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(seed), "--model", f"{folder}/model.yaml", "--out", out,
                           "--formats", "csv", "--quiet", f"{folder}/table.csv"], capture_output=True, text=True, env={**os.environ, "GOMAXPROCS": "1"})
    if done.returncode:
        print(f"{out}: status {done.returncode}: {done.stderr[-300:].strip()}", flush=True)
        return None
    return pd.read_csv(f"{out}/release/summary.csv", index_col="variable")


def main():
    d3p, home, records, epsilons, tables = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split(","), int(sys.argv[5])
    groups, rows = int(sys.argv[6]) if len(sys.argv) > 6 else 0, []
    for seed in range(tables):
        for k, family in enumerate(FAMILIES):
            folder = f"{home}/{family}-{seed}"
            truth = table(folder, family, seed, records, groups)
            for epsilon in epsilons:
                out = f"{folder}/{epsilon}"
                t = fitted(d3p, folder, out, epsilon, 100 * seed + k + 1)
                if t is None:
                    continue
                t = t.loc[list(truth)]
                rows.append(t.assign(truth=truth, family=family, epsilon=epsilon, table=seed).reset_index())
    show(pd.concat(rows))


def show(t):
    """Prints by family, parameter and verdict how often intervals hold the truth, then those more than 4 sds off."""
    t["z"], t["holds"] = (t["mean"] - t["truth"]) / t["sd"], (t["q5"] <= t["truth"]) & (t["truth"] <= t["q95"])
    t["kind"] = [re.sub(r"(_raw)?(\[.*)?$", "", v) for v in t["variable"]]
    for by in ("family", "kind", "verdict"):
        print(t.groupby([by, "epsilon"]).agg(intervals=("holds", "size"), holds=("holds", "mean"), farthest=("z", lambda z: z.abs().max())).round(2).to_string(), "\n")
    print(t[t["z"].abs() > 4][["family", "epsilon", "table", "variable", "truth", "mean", "sd", "z", "verdict"]].to_string())


if __name__ == "__main__":
    main()
