#!/usr/bin/env python3
"""Real tables, as d3p init --from declares them by their codebooks: fits with privacy against fits without.

    python3 real.py D3P SHARED EPSILONS SEEDS [NAMES]

fits each formula below to SHARED/data with the program D3P in ./real, SEEDS times at each of EPSILONS (1,4), and
prints by verdict and by formula: the share of 90 % intervals that hold the mean of fit-nonprivate, and the farthest, in
standard deviations; then the coefficients more than 4 off, and those with the wrong sign.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd

FORMULAS = {
    "diabetes": ("nhanes", "Diabetes ~ Age + Sex + Race1 + BMI", "bernoulli"),
    "inter": ("nhanes", "Diabetes ~ Age * BMI + Sex", "bernoulli"),
    "active": ("nhanes", "PhysActive ~ MaritalStatus + HomeOwn + Work + Poverty", "bernoulli"),
    "trouble": ("nhanes", "SleepTrouble ~ Age + Sex + Depressed + LittleInterest + BMI + Race1", "bernoulli"),
    "pressure": ("nhanes", "BPSysAve ~ Age + Sex + BMI + Race1 + Smoke100", "normal"),
    "diastolic": ("nhanes", "BPDiaAve ~ BPSysAve + Age + Weight + Height + BMI", "normal"),
    "sleep": ("nhanes", "SleepHrsNight ~ Age + Depressed + Work", "normal"),
    "weight": ("nhanes", "Weight ~ Height + Age + Sex", "normal"),
    "pulse": ("nhanes", "Pulse ~ Age + Sex + BMI + Smoke100", "student_t"),
    "cholesterol": ("nhanes", "TotChol ~ Age + Sex + BMI", "gamma"),
    "rooms": ("nhanes", "HomeRooms ~ Poverty + MaritalStatus + HomeOwn", "poisson"),
    "sick": ("nhanes", "DaysPhysHlthBad ~ Age + Sex + HealthGen + PhysActive", "negative_binomial"),
    "alcohol": ("nhanes", "AlcoholYear ~ Age + Sex + Smoke100", "negative_binomial"),
    "mental": ("nhanes", "DaysMentHlthBad ~ Age + Sex + Work", "hurdle_negative_binomial"),
    "own": ("nhanes", "HomeOwn ~ Age + Poverty", "categorical"),
    "rings": ("abalone", "rings ~ sex + length + diameter + whole_weight + shell_weight", "poisson"),
    "collinear": ("abalone", "rings ~ sex + length + diameter + height + whole_weight + shucked_weight + viscera_weight + shell_weight", "normal"),
    "district": ("contraception", "use ~ urban + age + livch + (1 | district)", "bernoulli"),
    "state": ("radon", "log_radon ~ floor + log_uppm + (1 | state)", "normal"),
    "wells": ("wells", "switched ~ arsenic + dist + assoc + educ", "bernoulli"),
    "income": ("adult", "income ~ age + education_num + sex + hours_per_week + marital_status", "bernoulli"),
}


def fit(command, out, *arguments):
    """The summary of a fit, by variable, in the units of the declared scales."""
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([*command, "--out", out, "--formats", "csv", "--quiet", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{out}: status {done.returncode}: {done.stderr[-500:]}")
    t = pd.read_csv(glob.glob(f"{out}/**/summary.csv", recursive=True)[0], index_col="variable")
    return t[~t.index.str.contains("_raw")]


def compared(d3p, shared, name, epsilons, seeds):
    """The coefficients of one formula: of each fit with privacy beside that without."""
    folder, formula, family = FORMULAS[name]
    data, codebook, home = f"{shared}/data/{folder}/train.csv", f"{shared}/data/{folder}/columns.csv", f"real/{name}"
    os.makedirs(home, exist_ok=True)
    with open(data) as f:
        records = sum(1 for _ in f) - 1
    skeleton = subprocess.run([d3p, "init", "--from", codebook, "--entity", "person", "--records", str(records), "--formula", formula, "--family", family],
                              capture_output=True, text=True, check=True).stdout
    model = f"{home}/model.yaml"
    with open(model, "w") as f:
        f.write(re.sub(r"unit: \{.*?\}", "unit: {entity: person, rows_per_unit: 1}", skeleton, count=1))
    truth = fit([d3p, "fit-nonprivate", "--model", model], f"{home}/without", data)
    for epsilon in epsilons:
        for seed in range(seeds):
            private = [d3p, "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(100 + seed), "--model", model]
            t = fit(private, f"{home}/private", data).join(truth[["mean", "sd"]], rsuffix=" without")
            yield t.reset_index().assign(name=name, epsilon=epsilon, seed=seed)


def main():
    d3p, shared, epsilons, seeds = sys.argv[1:5]
    names = sys.argv[5].split(",") if len(sys.argv) > 5 else FORMULAS
    t = pd.concat([x for name in names for x in compared(d3p, shared, name, epsilons.split(","), int(seeds))])
    t["z"] = (t["mean"] - t["mean without"]) / t["sd"]
    t["holds"] = (t["q5"] <= t["mean without"]) & (t["mean without"] <= t["q95"])
    t["wrong"] = (np.sign(t["mean"]) != np.sign(t["mean without"])) & (t["q5"] * t["q95"] > 0) & (t["mean without"].abs() > 3 * t["sd without"])
    for by in (["epsilon", "verdict"], ["name", "epsilon", "verdict"]):
        groups = t.groupby(by)
        print(groups.agg(intervals=("holds", "size"), holds=("holds", "mean"), farthest=("z", lambda z: z.abs().max())).round(2).to_string(), "\n")
    far = t[(t["z"].abs() > 4) | t["wrong"]]
    print(far[["name", "epsilon", "seed", "variable", "mean without", "mean", "sd", "z", "verdict", "why"]].round(3).to_string())


main()
