#!/usr/bin/env python3
"""Models in core blocks whose parameters have bounds, beside fits without privacy.

    python3 cores.py D3P NAME TABLES

simulates TABLES tables of 3000 records of each model in ./cores, fits them with the program D3P at epsilon 1 and 4 and without
privacy, and prints by model, parameter and epsilon: the share of 90 % intervals that hold the truth, the root mean
square of z (the distance of the mean from it, by the sd) with and without privacy, the sd by that without, and the
share called resolved, with the number of these that do not hold. A fit that exists is not repeated.
"""
import os
import subprocess
import sys

import numpy as np
import pandas as pd

N = 3000
POSITIVE = "{type: real, lower: 0.001, upper: 300}"
SHARE = "{type: real, lower: 0.0001, upper: 0.9999}"
COUNT = "{type: integer, lower: 0, upper: 200}"
PLAIN = "{type: real, lower: -200, upper: 200, scale: {center: 0, by: 1}}"
# the response, the priors, its density, its draws by the predictor x, and the truth
MODELS = {
    "gamma": (POSITIVE, {"a": "gamma(2, 0.5)", "b": "gamma(2, 1)"}, "gamma(a, b)", lambda r, x: r.gamma(3, 2, N), {"a": 3, "b": 0.5}),
    "beta": (SHARE, {"a": "gamma(2, 0.5)", "b": "gamma(2, 0.5)"}, "beta(a, b)", lambda r, x: r.beta(2, 5, N), {"a": 2, "b": 5}),
    "weibull": (POSITIVE, {"k": "gamma(2, 0.5)", "s": "gamma(2, 0.3)"}, "weibull(k, s)", lambda r, x: 4 * r.weibull(1.5, N), {"k": 1.5, "s": 4}),
    "negative_binomial": (COUNT, {"mu": "gamma(2, 0.5)", "phi": "gamma(2, 0.5)"}, "negative_binomial(mu, phi)", lambda r, x: r.poisson(4 * r.gamma(1.5, 1 / 1.5, N)), {"mu": 4, "phi": 1.5}),
    "zero_inflated_poisson": (COUNT, {"p": "beta(1, 1)", "rate": "gamma(2, 0.5)"}, "zero_inflated_poisson(p, rate)", lambda r, x: np.where(r.uniform(size=N) < 0.3, 0, r.poisson(1.5, N)), {"p": 0.3, "rate": 1.5}),
    "student_t": (PLAIN, {"m": "normal(0, 10)", "s": "gamma(2, 0.3)", "nu": "gamma(2, 0.1)"}, "student_t(nu, m, s)", lambda r, x: 5 + 3 * r.standard_t(4, N), {"m": 5, "s": 3, "nu": 4}),
    "gamma of x": (POSITIVE, {"a": "gamma(2, 0.5)", "b": "gamma(2, 1)", "m": "normal(0, 1)"}, "gamma(a, b * exp(-m * x))", lambda r, x: r.gamma(3, 2 * np.exp(0.4 * x)), {"a": 3, "b": 0.5, "m": 0.4}),
    "beta of x": (SHARE, {"a": "gamma(2, 0.5)", "b": "gamma(2, 0.5)", "m": "normal(0, 1)"}, "beta(a * exp(m * x), b)", lambda r, x: r.beta(2 * np.exp(0.3 * x), 5), {"a": 2, "b": 5, "m": 0.3}),
}


def fit(program, out, folder, *command):
    """The summary of a fit to the table in a folder."""
    if not os.path.exists(out):
        done = subprocess.run([program, *command, "--quiet", "--formats", "csv", "--model", f"{folder}/model.yaml", "--out", out, f"{folder}/table.csv"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{out}: status {done.returncode}: {done.stderr}")
    return pd.read_csv(f"{out}/release/summary.csv", index_col="variable")


def main():
    program, name, rows = sys.argv[1], sys.argv[2], []
    for number, (model, (column, priors, density, draw, truth)) in enumerate(MODELS.items()):
        for seed in range(int(sys.argv[3])):
            folder, r = f"cores/{model.replace(' ', '-')}-{seed}", np.random.default_rng([seed, number])
            os.makedirs(folder, exist_ok=True)
            x = r.normal(size=N).round(3).clip(-4, 4)
            y = draw(r, x)
            y = y.round(4).clip(0.0001, 0.9999) if column == SHARE else y.round(4)
            pd.DataFrame({"x": x, "y": y}).to_csv(f"{folder}/table.csv", index=False)
            with open(f"{folder}/model.yaml", "w") as f:
                f.write(f"d3p: 1\ndata:\n  unit: {{entity: person, rows_per_unit: 1}}\n  rows: {{public: {N}}}\n  columns:\n"
                        f"    x: {{type: real, lower: -4, upper: 4, scale: {{center: 0, by: 1}}}}\n    y: {column}\ncore:\n  params:\n"
                        + "".join(f"    {p}: {prior}\n" for p, prior in priors.items()) + f"  rows:\n    observe:\n      y: {density}\n")
            exact = fit(program, folder + "/exact", folder, "fit-nonprivate")
            for epsilon in ("1", "4"):
                own = fit(program, f"{folder}/{name}-{epsilon}", folder, "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(seed + 1))
                for v, true in truth.items():
                    a, b = own.loc[v], exact.loc[v]
                    holds, resolved = a.q5 <= true <= a.q95, a.verdict == "resolved"
                    rows.append({"model": model, "parameter": v, "epsilon": epsilon, "holds": holds, "z": (a["mean"] - true) / a.sd, "exact": (b["mean"] - true) / b.sd, "sd": a.sd / b.sd, "resolved": resolved, "wrong": resolved and not holds})
    rms = lambda z: (z**2).mean() ** 0.5
    print(pd.DataFrame(rows).groupby(["model", "parameter", "epsilon"], sort=False).agg(intervals=("z", "size"), holds=("holds", "mean"), z=("z", rms), z_exact=("exact", rms), sd=("sd", "median"), resolved=("resolved", "mean"), wrong=("wrong", "sum")).round(2).to_string())


if __name__ == "__main__":
    main()
