#!/usr/bin/env python3
"""Random tables as people have them, fitted with privacy and without.

    python3 strange.py D3P NAME FIRST LAST

draws the tables FIRST to LAST, fits each in ./strange with the program D3P, and prints by verdict: the
coefficients, the quantiles of z (the distance of the mean from that without privacy, by the sd), the share of
90 % intervals that hold the mean without privacy, and the wrong signs: intervals on the other
side of 0 than that without privacy. A fit without privacy that failed is no reference: its table is left out. Then
the fits that failed, and the worst coefficients that are resolved.
"""
import os
import subprocess
import sys

import numpy as np
import pandas as pd

CALM = ["id", "constant"]  # not in the truth


def predictor(r, n, z, frame):
    """A column of n values that rise with the normal scores z, its kind, and whether it is a category."""
    kind = r.choice("normal lognormal zeros heaped bimodal outliers age year id binary rare levels many constant near sum dummies share".split(),
                    p=np.array([8, 6, 4, 4, 4, 4, 6, 4, 1, 6, 2, 6, 1, 1, 2, 2, 2, 2]) / 65)
    numbers = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c])]
    if kind in ("near", "sum", "share") and len(numbers) < 2:
        kind = "normal"
    scale = 10 ** r.uniform(-2, 4)
    if kind == "normal":
        return kind, scale * (z + r.choice([0, 3, 30]))
    if kind == "lognormal":
        return kind, scale * np.exp(r.uniform(0.5, 1.5) * z)
    if kind == "zeros":
        return kind, np.where(r.uniform(size=n) < r.uniform(0.3, 0.9), 0, scale * np.exp(z))
    if kind == "heaped":
        return kind, np.round(50 + 15 * z, -1 if r.uniform() < 0.5 else 0)
    if kind == "bimodal":
        return kind, scale * (np.where(z > r.uniform(-1, 1), 4, 0) + 0.5 * r.normal(size=n))
    if kind == "outliers":
        return kind, scale * np.where(r.uniform(size=n) < 0.01, 20 * z, z)
    if kind == "age":
        return kind, np.clip(np.round(50 + 18 * z), 18, 95)
    if kind == "year":
        return kind, np.clip(np.round(1970 + 25 * z), 1900, 2020)
    if kind == "id":
        return kind, r.permutation(n) + 1000
    if kind == "binary":
        return kind, (z > r.uniform(-1, 1)).astype(int)
    if kind == "rare":
        return kind, (z > r.choice([2, 2.6])).astype(int)
    if kind in ("levels", "many"):
        most = r.integers(3, 7) if kind == "levels" else r.integers(10, 30)
        shares = np.sort(r.dirichlet(np.full(most, 0.7)))[::-1]
        cuts = np.quantile(z, np.cumsum(shares)[:-1])
        return kind, np.array([f"l{i}" for i in range(most)])[np.searchsorted(cuts, z)]
    if kind == "constant":
        return kind, np.full(n, 7.0)
    if kind == "dummies":
        return kind, (np.abs(z) < r.uniform(0.2, 1)).astype(int)
    a, b = (frame[c].to_numpy(float) for c in r.choice(numbers, 2, replace=False))
    if kind == "near":
        return kind, a + r.choice([0.05, 0.2, 0.5]) * a.std() * r.normal(size=n)
    if kind == "sum":
        return kind, a + b
    return kind, a / (np.abs(a) + np.abs(b) + 1e-9)


def declaration(r, values):
    """A column's declaration, with bounds that are right, far too wide or too narrow, and perhaps a scale."""
    if values.dtype == object:
        return "{type: category, levels: [" + ", ".join(sorted(set(values))) + "]}", ""
    if set(np.unique(values)) <= {0, 1}:
        return '{type: binary, levels: ["0", "1"]}', ""
    low, high = values.min(), values.max()
    span = max(high - low, 1)
    how = r.choice(["right", "wide", "narrow"], p=[0.6, 0.25, 0.15])
    if how == "wide":
        factor = r.choice([3, 10, 50])
        low, high = (low if low >= 0 else low - factor * span), high + factor * span
    elif how == "narrow":
        low, high = np.quantile(values, [0.025, 0.975])
    if not low < high:
        low, high = low - 1, high + 1
    whole = np.array_equal(values, np.round(values))
    low, high = (np.floor(low), np.ceil(high)) if whole else (float(f"{low - 0.01 * span:.3g}"), float(f"{high + 0.01 * span:.3g}"))
    scale = ""
    if r.uniform() < 0.3:
        scale = f", scale: {{center: {np.median(values):.3g}, by: {max(values.std(), 0.01):.2g}}}"
    return f"{{type: {'integer' if whole else 'real'}, lower: {low:.10g}, upper: {high:.10g}{scale}}}", how


def standard(values):
    if values.dtype == object:
        values = values != values[np.argmax(pd.Series(values).map(pd.Series(values).value_counts()))]
    values = np.asarray(values, float)
    return np.clip((values - values.mean()) / max(values.std(), 1e-9), -5, 5)


def respond(r, family, eta):
    """Responses whose predictor is eta, the kind of their errors, and their declaration."""
    n = len(eta)
    if family == "normal":
        kind = r.choice(["norm", "t3", "lognormal", "het", "dirty"])
        e = {"norm": r.normal(size=n), "t3": r.standard_t(3, size=n), "lognormal": np.exp(r.normal(size=n)),
             "het": r.normal(size=n) * np.exp(0.7 * standard(eta)),
             "dirty": np.where(r.uniform(size=n) < 0.02, 15, 1) * r.normal(size=n)}[kind]
        y = 10 ** r.uniform(-1, 3) * (eta + r.choice([0.5, 1, 3]) * e + r.choice([0, 10]))
        return kind, y, declaration(r, y)[0]
    if family == "bernoulli":
        kind = r.choice(["even", "rare", "steep"], p=[0.5, 0.3, 0.2])
        u = (6 if kind == "steep" else 1) * eta + r.logistic(size=n)
        return kind, (u > np.quantile(u, 0.5 if kind == "even" else r.choice([0.7, 0.9, 0.97]))).astype(int), '{type: binary, levels: ["0", "1"]}'
    if family == "cumulative":
        most = r.integers(3, 8)
        u = eta + r.logistic(size=n)
        y = np.searchsorted(np.quantile(u, np.cumsum(r.dirichlet(np.full(most, 1.5)))[:-1]), u)
        return f"of{most}", np.array([f"g{k}" for k in y], dtype=object), "{type: ordinal, levels: [" + ", ".join(f"g{k}" for k in range(most)) + "]}"
    mean = r.choice([0.5, 3, 20]) * np.exp(np.clip(0.5 * eta, -4, 4))
    kind = r.choice(["poisson", "over", "zeros"])
    if kind == "over":
        mean = mean * r.gamma(1.5, size=n) / 1.5
    y = r.poisson(mean) * (r.uniform(size=n) > (0.3 if kind == "zeros" else 0))
    return kind, y, f"{{type: integer, lower: 0, upper: {int(y.max() * r.choice([1, 1, 5])) + 1}}}"


def group(r, n, z):
    """Group labels of very unequal sizes and their effects; some follow z."""
    most = r.integers(4, 20)
    shares = 1 / np.arange(1, most + 1) ** r.choice([0, 1, 1.5])
    follows = r.uniform() < 0.4
    order = np.argsort(z + r.normal(size=n)) if follows else r.permutation(n)
    g = np.empty(n, int)
    g[order] = np.repeat(np.arange(most), np.diff(np.r_[0, np.round(np.cumsum(shares) / shares.sum() * n)]).astype(int))
    return g, r.normal(size=most) * r.choice([0.1, 0.5, 1.5]), most


def draw(seed):
    """A table, the text of its model file, the epsilon of its fit and what it contains."""
    r = np.random.default_rng([seed, 1704])
    n = int(r.choice([300, 1000, 3000, 5000, 10000, 20000], p=np.array([1, 1, 2, 2, 4, 5]) / 15))
    k = int(r.integers(1, 8))
    rows = 3 if r.uniform() < 0.1 else 1
    loads = r.uniform(-0.9, 0.9, size=k) if r.uniform() < 0.7 else np.zeros(k)
    common = r.normal(size=n)
    frame, lines, tags, kinds = pd.DataFrame(index=range(n)), [], [], {}
    eta = np.zeros(n)
    for i in range(k):
        z = loads[i] * common + (1 - loads[i] ** 2) ** 0.5 * r.normal(size=n)
        kind, values = predictor(r, n, z, frame)
        values = values.astype(object) if values.dtype.kind == "U" else np.array([float(f"{v:.6g}") for v in values])
        frame[f"x{i}"], kinds[f"x{i}"] = values, kind
        declared, how = declaration(r, values)
        lines.append((f"x{i}", declared))
        tags.append(f"x{i}:{kind}" + (f"/{how}" if how not in ("", "right") else ""))
        if kind not in CALM:
            own = standard(values)
            eta += r.choice([0, 0.2, 0.5, 1]) * r.choice([-1, 1]) * own
            if r.uniform() < 0.15:
                eta += 0.4 * own**2
                tags.append(f"x{i}^2 is true")
    terms = list(frame)
    numbers = [c for c in frame if kinds[c] in ("normal", "lognormal", "heaped", "bimodal", "age", "year", "outliers")]
    if numbers and r.uniform() < 0.35:
        c = r.choice(numbers)
        low, middle, high = np.quantile(frame[c].astype(float), [0.1, 0.5, 0.9])
        extra = r.choice(["square", "poly", "spline", "product"])
        if extra == "square":
            terms.append(f"I({c}^2)")
        elif extra == "poly":
            terms[terms.index(c)] = f"poly({c}, 2)"
        elif extra == "spline" and low < middle < high:
            terms[terms.index(c)] = f"spline({c}, {low:.4g}, {middle:.4g}, {high:.4g})"
        elif k > 1:
            terms.append(f"{c}:{r.choice([d for d in frame if d != c])}")
        tags.append(extra)
    data = ""
    if r.uniform() < 0.35:
        g, effects, most = group(r, n, common)
        if r.uniform() < 0.3:
            frame["w"] = r.normal(size=most).round(2)[g]
            eta += r.choice([0, 0.5]) * frame.w
            lines.append(("w", "{type: real, lower: -4, upper: 4" + (", constant_within: g}" if r.uniform() < 0.7 else "}")))
            terms.append("w")
            tags.append("w: constant within g")
        eta += effects[g]
        frame["g"] = [f"g{v}" for v in g]
        lines.append(("g", "{type: category, levels: [" + ", ".join(f"g{v}" for v in range(most)) + "]}"))
        terms.append("(1 | g)" if r.uniform() < 0.8 else "g")
        tags.append(f"{most} groups")
        if r.uniform() < 0.8:
            lines = [(name, text if name in "wg" or "type: category" in text else text[:-1] + ", constant_within: none}") for name, text in lines]
    family = str(r.choice(["normal", "bernoulli", "poisson", "negative_binomial", "cumulative"], p=[0.25, 0.3, 0.2, 0.1, 0.15]))
    kind, y, declared = respond(r, family, eta)
    frame["y"] = y
    lines.append(("y", declared))
    if r.uniform() < 0.25:
        c = r.choice(numbers) if numbers else None
        if c:
            much = r.choice([0.02, 0.1, 0.3])
            informative = r.uniform() < 0.5
            gone = r.uniform(size=n) < (2 * much * (standard(frame[c].to_numpy()) > 0) if informative else much)
            frame[c] = frame[c].astype(object).where(~gone, "")
            tags.append(f"{c} missing {much}")
            if r.uniform() < 0.5:
                middle = float(dict(lines)[c].split("lower: ")[1].split(",")[0])
                data += f"  missing: {{{c}: {{impute: {middle}, indicator: true}}}}\n"
    unit = "unit: {entity: person, rows_per_unit: 1}"
    if rows > 1:
        frame["pid"] = np.sort(r.integers(0, n // 2, size=n))
        unit = f"unit: {{entity: person, id: pid, rows_per_unit: {rows}}}"
        tags.append("rows per unit")
    epsilon = str(r.choice(["0.3", "1", "3"], p=np.array([1, 2, 3]) / 6))
    columns = "".join(f"    {name}: {text}\n" for name, text in lines)
    public = frame.pid.nunique() if rows > 1 else n
    model = f"d3p: 1\ndata:\n  {unit}\n  rows: {{public: {public}}}\n  columns:\n{columns}{data}model:\n  formula: y ~ 1 + {' + '.join(terms)}\n  family: {family}\n"
    return frame, model, epsilon, f"{family}/{kind} N {n} eps {epsilon}: " + ", ".join(tags)


def fit(program, out, base, *command):
    """The summary of a fit, and its status if that is not 0. A fit that is there is read again."""
    if not os.path.exists(out):
        done = subprocess.run([program, *command, "--quiet", "--formats", "parquet", "--threads", "1", "--model", base + "/model.yaml", "--out", out, base + "/table.csv"], capture_output=True, text=True)
        os.makedirs(out, exist_ok=True)
        with open(out + "/status", "w") as f:
            f.write(f"{done.returncode} {done.stderr}")
    status = open(out + "/status").read().strip()
    summary = out + "/release/summary.csv"
    return pd.read_csv(summary) if os.path.exists(summary) else None, "" if status.split()[0] == "0" else status


def compare(own, exact):
    """The variables of a fit beside those of the fit without privacy."""
    both = own.merge(exact, on="variable", suffixes=("", "_exact"))
    both = both[both.variable.str.match(r"(b|s_[^_]+|Intercept|thresholds|sigma|phi|sd_[^_]+)($|\[)")].copy()
    both["z"] = (both["mean"] - both.mean_exact) / both.sd
    both["narrow"] = both.sd / both.sd_exact
    both["holds"] = (both.q5 <= both.mean_exact) & (both.mean_exact <= both.q95)
    both["wrong"] = (both.q5 > 0) & (both.q95_exact < 0) | (both.q95 < 0) & (both.q5_exact > 0)
    return both


def main():
    program, name, first, last = sys.argv[1:]
    rows, failed = [], []
    for seed in range(int(first), int(last) + 1):
        base = f"strange/{seed}"
        frame, model, epsilon, tags = draw(seed)
        if not os.path.exists(base):
            os.makedirs(base)
            frame.to_csv(base + "/table.csv", index=False, float_format="%.6g")
            with open(base + "/model.yaml", "w") as f:
                f.write(model)
        exact, without = fit(program, base + "/exact", base, "fit-nonprivate")
        own, status = fit(program, f"{base}/{name}", base, "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(seed))
        failed += [f"{seed} {what}: {text[:300]}\n    {tags}" for what, text in (("exact", without), (name, status)) if text]
        if own is not None and exact is not None and not without:
            rows.append(compare(own, exact).assign(seed=seed, tags=tags))
    all = pd.concat(rows)
    all.to_csv(f"strange/{name}-{first}-{last}.csv", index=False)
    all["far"] = all.z.abs() > 4
    by = all.groupby("verdict")
    print(pd.DataFrame({"coefficients": by.size(), "median": by.z.apply(lambda z: z.abs().median()), "q95": by.z.apply(lambda z: z.abs().quantile(0.95)), "q99": by.z.apply(lambda z: z.abs().quantile(0.99)),
                        "far": by.far.sum(), "holds": by.holds.mean(), "wrong": by.wrong.sum()}).round(2).to_string())
    print("\nfailed:", *failed, sep="\n")
    worst = all[(all.verdict == "resolved") & ((all.z.abs() > 3) | all.wrong | (all.narrow < 0.9) | ~np.isfinite(all.sd))]
    for (seed, tags), own in worst.groupby(["seed", "tags"]):
        print(f"\n{seed} {tags}")
        print(own[["variable", "mean", "sd", "mean_exact", "sd_exact", "z", "wrong"]].round(4).to_string(index=False))


if __name__ == "__main__":
    main()
