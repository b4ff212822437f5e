#!/usr/bin/env python3
"""Regressions of persons with several rows, beside the estimate without privacy with cluster-robust errors.

    python3 units.py D3P FAMILIES PERSONS ROWS BETWEEN EPSILON SITES FIRST TABLES

fits each table in ./units with the program D3P and prints, by variable: the share of 90 % intervals that
hold the truth, the root mean square of z, the released sd by the robust standard error without privacy,
that of independent rows by it, and the share called resolved. BETWEEN is the standard deviation between persons;
with SITES > 0 persons are at that many sites, with effects of standard deviation 0.5 that the model has.
FAMILIES are of normal,bernoulli,poisson.
"""
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd

COLUMNS = {
    "normal": "{type: real, lower: -10, upper: 10}",
    "bernoulli": "{type: binary}",
    "poisson": "{type: integer, lower: 0, upper: 60}",
}
MODEL = """d3p: 1
name: units
data:
  unit: {{entity: person, id: person, rows_per_unit: {rows}}}
  rows: {{public: {persons}}}
  columns:
{site}    arm: {{type: category, levels: [drug, placebo]}}
    age: {{type: real, lower: 20, upper: 80}}
    x: {{type: real, lower: -4, upper: 4}}
    w: {{type: real, lower: -4, upper: 4}}
    y: {column}
model:
  formula: y ~ x + w + arm + age{groups}
  family: {family}
"""


def table(r, family, persons, rows, between, sites):
    """Persons with 80 % of their rows, x and w correlated by .6, and arm and age of the person."""
    person = np.repeat(np.arange(persons), rows)
    arm, age, site = r.integers(0, 2, persons), np.clip(r.normal(50, 12, persons), 20, 80).round(1), r.integers(0, max(sites, 1), persons)
    own = r.normal(0, between, persons) + (r.normal(0, 0.5, sites)[site] if sites else 0)
    e = r.normal(size=(persons * rows, 2))
    x, w = e[:, 0], 0.6 * e[:, 0] + 0.8 * e[:, 1]
    eta = -0.7 + 0.3 * x - 0.2 * w + 0.4 * arm[person] + 0.02 * (age[person] - 50) + own[person]
    if family == "normal":
        y = (eta + r.normal(size=len(eta))).clip(-10, 10).round(3)
    elif family == "bernoulli":
        y = (r.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)
    else:
        y = np.minimum(r.poisson(np.exp(eta - between**2 / 2)), 60)
    keep = r.random(len(eta)) < 0.8
    keep[::rows] = True
    names = np.where(arm == 1, "drug", "placebo")
    return pd.DataFrame(dict(person=person, site=[f"s{k}" for k in site[person]], arm=names[person], age=age[person],
                             x=x.clip(-4, 4).round(3), w=w.clip(-4, 4).round(3), y=y))[keep]


def estimate(d, family, sites):
    """Coefficients of independent rows, with cluster-robust and naive standard errors."""
    columns = [np.ones(len(d)), d.x, d.w, d.arm == "placebo", d.age - 50]
    columns += [(d.site == f"s{k}") for k in range(1, sites)]
    design, y = np.column_stack(columns).astype(float), d.y.to_numpy(float)
    b = np.zeros(design.shape[1])
    for _ in range(40):
        eta = design @ b
        mean = {"normal": eta, "bernoulli": 1 / (1 + np.exp(-eta)), "poisson": np.exp(np.minimum(eta, 30))}[family]
        weight = {"normal": np.ones(len(y)), "bernoulli": mean * (1 - mean), "poisson": mean}[family]
        b = b + np.linalg.solve((design * weight[:, None]).T @ design, design.T @ (y - mean))
    inverse, scores = np.linalg.inv((design * weight[:, None]).T @ design), design * (y - mean)[:, None]
    of = np.zeros((d.person.max() + 1, len(b)))
    np.add.at(of, d.person.to_numpy(), scores)
    naive = np.diag(inverse) * ((y - mean).var() if family == "normal" else 1)
    return b, np.sqrt(np.diag(inverse @ of.T @ of @ inverse)), np.sqrt(naive)


NAMES = {"b_raw[x]": 1, "b_raw[w]": 2, "b_raw[arm=placebo]": 3, "b_raw[age]": 4}


def main():
    d3p, families, persons, rows, between, epsilon, sites, first, tables = sys.argv[1:]
    persons, rows, between, sites = int(persons), int(rows), float(between), int(sites)
    os.makedirs("units", exist_ok=True)
    for family in families.split(","):
        truth, _, _ = estimate(table(np.random.default_rng([9, int(1000 * between), sites]), family, 2000000 // rows, rows, between, sites), family, sites)
        found = {name: [] for name in NAMES}
        for t in range(int(first), int(first) + int(tables)):
            d = table(np.random.default_rng([7, persons, t, int(1000 * between), sites]), family, persons, rows, between, sites)
            _, robust, naive = estimate(d, family, sites)
            d.to_csv("units/units.csv", index=False)
            with open("units/units.yaml", "w") as f:
                f.write(MODEL.format(rows=rows, persons=persons, column=COLUMNS[family], family=family,
                                     site="    site: {type: category, levels: [" + ", ".join(f"s{k}" for k in range(sites)) + "]}\n" if sites else "", groups=" + (1 | site)" if sites else ""))
            shutil.rmtree("units/run", ignore_errors=True)
            subprocess.run([d3p, "fit", "--epsilon", epsilon, "units/units.csv", "--threads", "1", "--quiet", "--out", "units/run"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            s = pd.read_csv("units/run/release/summary.csv").set_index("variable")
            for name, k in NAMES.items():
                v = s.loc[name]
                found[name].append((v.q5 <= truth[k] <= v.q95, (v["mean"] - truth[k]) / v.sd, v.sd / robust[k], naive[k] / robust[k], v.verdict == "resolved"))
        for name, rows_of in [*found.items(), ("all", sum(found.values(), []))]:
            hold, z, width, independent, resolved = np.array(rows_of, float).T
            print(f"{family:10} {persons:6} x {rows:2}, between {between:g}, epsilon {epsilon}, sites {sites:3}: {name:20} {len(hold):4} intervals, "
                  f"hold {hold.mean():.2f}, z {np.sqrt((z**2).mean()):.2f}, sd {width.mean():.2f}, independent {independent.mean():.2f}, resolved {resolved.mean():.2f}", flush=True)


if __name__ == "__main__":
    main()
