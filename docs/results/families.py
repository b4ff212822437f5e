#!/usr/bin/env python3
"""Simulated tables of the families that defaults.py leaves out, declared by bounds alone, with default priors.

    python3 families.py D3P FOLDER FAMILIES RECORDS EPSILONS FIRST TABLES

draws TABLES tables from number FIRST on for each of FAMILIES (all, or names below with commas; the predictors are those
of defaults.py), fits each with the program D3P at each of EPSILONS (.3,1,4), and prints by family, by parameter and by
verdict: intervals, the share that hold the truth, and the farthest in standard deviations; then every one beyond 4.
"""
import os
import sys

import numpy as np
import pandas as pd

from defaults import fitted, people, show


def positive(draw, truth, upper):
    """A positive response about exp(eta), by its draw at eta, in days: 100 of them are one."""
    def respond(r, eta):
        return np.clip(100 * draw(r, eta), 0.01, upper).round(2), f"{{type: real, lower: 0.01, upper: {upper}}}", truth
    return respond


def counts(rate, zeros=0.0, hurdle=False, own=None):
    """Counts by their rate at eta, a share of which are zeros, instead of them all if they are a hurdle's."""
    def respond(r, eta):
        mean = rate(r, np.minimum(1.5 + eta, 6))
        y = r.poisson(mean)
        while hurdle and (y == 0).any():
            y = np.where(y == 0, r.poisson(rate(r, np.minimum(1.5 + eta, 6))), y)
        return np.minimum(np.where(r.uniform(size=len(eta)) < zeros, 0, y), 400), "{type: integer, lower: 0, upper: 400}", own or {}
    return respond


def number(draw, truth):
    """A number about 120 + 10 eta, by the draw of its error, of scale 8."""
    def respond(r, eta):
        return (120 + 10 * eta + 8 * draw(r, len(eta))).round(2).clip(-100, 400), "{type: real, lower: -100, upper: 400}", truth
    return respond


def levels(draw):
    def respond(r, eta):
        return draw(r, eta), "{type: ordinal, levels: [0, 1, 2, 3]}", {}
    return respond


def sequential(r, eta):
    y, going = np.zeros(len(eta), int), np.ones(len(eta), bool)
    for cut in (-1.0, 0.0, 0.8):
        going &= r.logistic(size=len(eta)) + eta > cut
        y += going
    return y


def adjacent(r, eta):
    logits = np.cumsum(np.column_stack([np.zeros(len(eta))] + [eta - cut for cut in (-0.5, 0.2, 0.9)]), axis=1)
    return (logits + r.gumbel(size=logits.shape)).argmax(1)


def binary(inverse):
    return lambda r, eta: ((r.uniform(size=len(eta)) < inverse(eta - 0.5)).astype(int), "{type: binary, levels: [0, 1]}", {})


def fraction(inflated):
    def respond(r, eta):
        p = 1 / (1 + np.exp(-eta))
        y = r.beta(6 * p, 6 * (1 - p)).round(4).clip(0.0001, 0.9999)
        if inflated:
            ends = r.uniform(size=len(eta)) < 0.15
            return np.where(ends, r.uniform(size=len(eta)) < 0.4, y), "{type: real, lower: 0, upper: 1}", {"kappa": 6, "zoi": 0.15, "coi": 0.4}
        return y, "{type: real, lower: 0.0001, upper: 0.9999}", {"kappa": 6}
    return respond


def normal_cdf(x):
    t = np.abs(x) / 2**0.5
    k = 1 / (1 + 0.3275911 * t)
    erf = 1 - (((((1.061405429 * k - 1.453152027) * k) + 1.421413741) * k - 0.284496736) * k + 0.254829592) * k * np.exp(-t * t)
    return np.where(x > 0, (1 + erf) / 2, (1 - erf) / 2)


def trials(spread):
    """Successes in 1 to 20 trials, whose probability differs by a beta distribution of the sum spread, if that is not 0."""
    def respond(r, eta):
        p, n = 1 / (1 + np.exp(1 - eta)), r.integers(1, 21, len(eta))
        p = r.beta(spread * p, spread * (1 - p)) if spread else p
        return np.column_stack([r.binomial(n, p), n]), "{type: integer, lower: 0, upper: 20}", {"kappa": spread} if spread else {}
    return respond


RESPONSES = {
    "bernoulli probit": binary(normal_cdf),
    "bernoulli cloglog": binary(lambda eta: 1 - np.exp(-np.exp(np.minimum(eta, 5)))),
    "binomial": trials(0),
    "beta_binomial": trials(5),
    "skew_normal": number(lambda r, n: 0.949 * np.abs(r.normal(size=n)) + 0.316 * r.normal(size=n), {"sigma_raw": 8, "alpha": 3}),
    "student_t": number(lambda r, n: r.standard_t(4, size=n), {"sigma_raw": 8, "nu": 4}),
    "laplace": number(lambda r, n: r.laplace(size=n), {"sigma_raw": 8}),
    "poisson sqrt": None,
    "zero_inflated_poisson": counts(lambda r, eta: np.exp(eta), 0.3, own={"zi": 0.3}),
    "zero_inflated_negative_binomial": counts(lambda r, eta: np.exp(eta) * r.gamma(2, 0.5, len(eta)), 0.3, own={"zi": 0.3, "phi": 2}),
    "hurdle_poisson": counts(lambda r, eta: np.exp(eta), 0.3, True, {"hu": 0.3}),
    "hurdle_negative_binomial": counts(lambda r, eta: np.exp(eta) * r.gamma(2, 0.5, len(eta)), 0.3, True, {"hu": 0.3, "phi": 2}),
    "gamma": positive(lambda r, eta: np.exp(eta) * r.gamma(2, 0.5, len(eta)), {"shape": 2}, 5000),
    "exponential": positive(lambda r, eta: np.exp(eta) * r.exponential(size=len(eta)), {}, 5000),
    "log_normal": positive(lambda r, eta: np.exp(eta + 0.8 * r.normal(size=len(eta))), {"sigma": 0.8}, 10000),
    "weibull": positive(lambda r, eta: np.exp(eta) * r.weibull(1.5, len(eta)), {"shape": 1.5}, 5000),
    "inverse_gaussian": positive(lambda r, eta: r.wald(np.exp(eta), 2), {"shape_raw": 200}, 10000),
    "log_logistic": positive(lambda r, eta: np.exp(eta + r.logistic(size=len(eta)) / 2), {"shape": 2}, 20000),
    "gompertz": positive(lambda r, eta: np.log(1 + 0.5 * r.exponential(size=len(eta)) / np.exp(eta)) / 0.5, {"shape_raw": 0.005}, 5000),
    "piecewise_exponential": positive(lambda r, eta: r.exponential(size=len(eta)) / np.exp(eta), {}, 5000),
    "beta": fraction(False),
    "zero_one_inflated_beta": fraction(True),
    "sratio": levels(sequential),
    "acat": levels(adjacent),
}
del RESPONSES["poisson sqrt"]
CENSORED = ["gamma", "exponential", "log_normal", "weibull", "log_logistic", "gompertz", "piecewise_exponential"]
FAMILIES = list(RESPONSES) + ["surv " + name for name in CENSORED]


def table(folder, name, seed, n):
    """Writes a table and its model file; returns the truth by variable."""
    r = np.random.default_rng([seed, n, FAMILIES.index(name)])
    family, survival = name.removeprefix("surv "), name.startswith("surv ")
    values, b, eta, _, columns, formula = people(r, n, 0.4)
    family, link = (family.split() + [""])[:2]
    y, declared, own = RESPONSES[name.removeprefix("surv ")](r, eta)
    own, left, line = dict(own), "y", [f"y: {declared}"]
    values = {"y": y} | values
    if y.ndim == 2:
        values |= {"y": y[:, 0], "n": y[:, 1]}
        left, line = "y | trials(n)", line + ["n: {type: integer, lower: 1, upper: 20}"]
    if survival:
        end = r.uniform(20, 400, n).round(2)
        values |= {"y": np.minimum(y, end), "event": (y <= end).astype(int)}
        left, line = "surv(y, event)", line + ["event: {type: binary, levels: [0, 1]}"]
    unit = 10 if declared.startswith("{type: real, lower: -100") else 1
    for x, effect in b.items():
        plain = unit == 1 and x not in ("age", "count", "income")
        own[f"b[{x}]" if plain else f"b_raw[{x}]"] = unit * effect
    os.makedirs(folder, exist_ok=True)
    pd.DataFrame(values).to_csv(f"{folder}/table.csv", index=False)
    lines = "\n".join(f"    {c}" for c in line + columns)
    more = (f"  link: {link}\n" if link else "") + ("  cuts: [30, 100, 250]\n" if family == "piecewise_exponential" else "")
    with open(f"{folder}/model.yaml", "w") as f:
        f.write(f"d3p: 1\ndata:\n  unit: {{entity: person, rows_per_unit: 1}}\n  rows: {{public: {n}}}\n  out_of_range: clamp\n  columns:\n{lines}\n"
                f"model:\n  formula: {left} ~ {formula}\n  family: {family}\n{more}")
    return own


def main():
    d3p, home, names, records, epsilons, first, tables = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5].split(","), int(sys.argv[6]), int(sys.argv[7])
    rows = []
    for seed in range(first, first + tables):
        for k, name in enumerate(FAMILIES):
            if names != "all" and name not in names.split(","):
                continue
            folder = f"{home}/{name.replace(' ', '-')}-{seed}"
            truth = table(folder, name, seed, records)
            for epsilon in epsilons:
                out = f"{folder}/{epsilon}"
                t = fitted(d3p, folder, out, epsilon, 100 * seed + k + 1)
                if t is None:
                    continue
                missing = set(truth) - set(t.index)
                if missing:
                    print(f"{out}: no {missing}", flush=True)
                t = t.loc[[v for v in truth if v in t.index]]
                rows.append(t.assign(truth=[truth[v] for v in t.index], family=name, epsilon=epsilon, table=seed).reset_index())
    show(pd.concat(rows))


if __name__ == "__main__":
    main()
