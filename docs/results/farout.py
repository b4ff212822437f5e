#!/usr/bin/env python3
"""Regressions with a few responses far out, and right ones, beside fits without privacy.

    python3 farout.py D3P NAME FAMILIES KINDS RECORDS EPSILONS TABLES

fits each table in ./farout with the program D3P and prints, by family, kind, N and epsilon: the share of the
coefficients called resolved, how many of these are more than 4 sds from the fit without privacy, the root mean
square of that distance z of all, the worst z of a resolved one, and the sds by those without privacy. Kinds:
right; wide (right, bounds of the response 5 times as wide); out (1 % of the responses far out); few (.3 %);
lever (30 % of those beyond 2 sds of x1); xout (right, 1 % of x0 far outside the bounds); xfar (1 % of x0 far out,
within the bounds, where its effect stops to grow); t (normal errors are t4). Units of a kind that ends in a digit,
as out3, have 1 to so many rows; N is the number of rows.
"""
import itertools
import os
import sys
import zlib

import numpy as np
import pandas as pd

import strange


def respond(r, family, eta, out, kind):
    """Responses at eta of a family, those out far away, and their declaration."""
    n = len(eta)
    if family in ("poisson", "negative_binomial"):
        mu = np.exp(1.2 + eta) * (r.gamma(2, size=n) / 2 if family == "negative_binomial" else 1)
        y = r.poisson(mu)
        y = np.where(out, y + r.poisson(10 * mu + 30), y)
        return y, f"{{type: integer, lower: 0, upper: {int(y.max() * (5 if kind == 'wide' else 1)) + 1}}}"
    if family == "gamma":
        y = np.exp(1 + eta) * r.gamma(2, size=n) / 2
        y = np.where(out, y * 30, y)
        return y, f"{{type: real, lower: 0.0001, upper: {1.05 * y.max():.4g}}}"
    y = 3 * (eta + (r.standard_t(4, size=n) if kind == "t" else r.normal(size=n)))
    y = np.where(out, y + r.choice([-1, 1], size=n) * r.uniform(20, 60, size=n), y)
    center, half = (y.max() + y.min()) / 2, (5 if kind == "wide" else 1) * 0.51 * (y.max() - y.min())
    return y, f"{{type: real, lower: {center - half:.4g}, upper: {center + half:.4g}}}"


def draw(family, kind, n, table):
    """A table and the text of its model file; normal_g has groups."""
    r = np.random.default_rng([table, n, zlib.crc32(f"{family} {kind}".encode())])
    kind, rows = (kind[:-1], int(kind[-1])) if kind[-1].isdigit() else (kind, 1)
    x = r.normal(size=(n, 3))
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]
    w, level = (r.uniform(size=n) < 0.3).astype(int), r.choice(4, size=n, p=[0.5, 0.25, 0.15, 0.1])
    if kind in ("xout", "xfar"):
        x[r.uniform(size=n) < 0.01, 0] *= 20
    out = r.uniform(size=n) < {"out": 0.01, "few": 0.003}.get(kind, 0)
    if kind == "lever":
        out = (x[:, 1] > 2) & (r.uniform(size=n) < 0.3)
    eta = 0.4 * np.clip(x[:, 0], -6, 6) - 0.3 * x[:, 1] + 0.2 * x[:, 2] + 0.3 * w + np.array([0, 0.3, -0.3, 0.5])[level]
    y, declared = respond(r, family, eta, out, kind)
    frame = pd.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "x2": x[:, 2], "w": w, "l": [f"l{k}" for k in level], "y": y})
    bounds = [100 if kind == "xfar" else 6, 6, 6]
    columns = "".join(f"    x{i}: {{type: real, lower: -{b}, upper: {b}}}\n" for i, b in enumerate(bounds))
    columns += '    w: {type: binary, levels: ["0", "1"]}\n    l: {type: category, levels: [l0, l1, l2, l3]}\n'
    terms = "x0 + x1 + x2 + w + l"
    if family == "normal_g":
        frame["g"] = [f"g{k}" for k in r.integers(0, 15, size=n)]
        columns += "    g: {type: category, levels: [" + ", ".join(f"g{k}" for k in range(15)) + "]}\n"
        terms += " + (1 | g)"
    unit, units = "unit: {entity: person, rows_per_unit: 1}", n
    if rows > 1:
        frame["person"] = np.repeat(np.arange(n), r.integers(1, rows + 1, size=n))[:n]
        unit, units = f"unit: {{entity: person, id: person, rows_per_unit: {rows}}}", frame.person.nunique()
    return frame, f"d3p: 1\ndata:\n  {unit}\n  rows: {{public: {units}}}\n  columns:\n{columns}    y: {declared}\nmodel:\n  formula: y ~ 1 + {terms}\n  family: {family.removesuffix('_g')}\n"


def main():
    program, name, *lists, tables = sys.argv[1:]
    rows = []
    for family, kind, n, table in itertools.product(*(x.split(",") for x in lists[:3]), range(int(tables))):
        base = f"farout/{family}-{kind}-{n}-{table}"
        if not os.path.exists(base):
            os.makedirs(base)
            frame, model = draw(family, kind, int(n), table)
            frame.to_csv(base + "/table.csv", index=False, float_format="%.6g")
            with open(base + "/model.yaml", "w") as f:
                f.write(model)
        exact, without = strange.fit(program, base + "/exact", base, "fit-nonprivate")
        for epsilon in lists[3].split(","):
            own, status = strange.fit(program, f"{base}/{name}-{epsilon}", base, "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(zlib.crc32(base.encode())))
            if own is None or exact is None:
                print(base, epsilon, without, status)
                continue
            rows.append(strange.compare(own, exact).assign(family=family, kind=kind, n=int(n), epsilon=epsilon))
    all = pd.concat(rows)
    all["resolved"] = all.verdict == "resolved"
    all["far"] = all.resolved & (all.z.abs() > 4)
    all["worst"] = all.z.abs().where(all.resolved)
    by = all.groupby(["family", "kind", "n", "epsilon"])
    print(pd.DataFrame({"coefficients": by.size(), "resolved": by.resolved.mean(), "far": by.far.sum(), "z": by.z.apply(lambda z: (z**2).mean() ** 0.5),
                        "worst": by.worst.max(), "sd": by.narrow.median()}).round(2).to_string())


if __name__ == "__main__":
    main()
