#!/usr/bin/env python3
"""Regression tables that come with R, as d3p init --from declares them by a codebook: fits with privacy against fits without.

    python3 rtables.py D3P EPSILONS SEEDS [NAMES]

exports each table below by Rscript to ./rtables, writes its codebook (bounds that a reader of the help page would state,
and the levels of factors), and fits each formula with the program D3P: SEEDS times at each of EPSILONS (.3,1,4). NAMES
are tables or table/number of the formula. A fit that exists is not repeated. It prints by verdict and by formula: the share of
90 % intervals that hold the mean of fit-nonprivate, and the farthest, in standard deviations; then the coefficients
more than 4 off, and those with the wrong sign.

Debian: apt-get install r-base-core r-recommended python3-pandas and r-cran- with aer, cardata, dplyr, epi, geepack,
ggplot2, hsaur3, kernlab, lme4, mlmrev, modeldata, ordinal, plm, sandwich, vcd.
"""
import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pandas as pd

# Each table: its R expression; bounds of numbers ("i" before a column: whole numbers); formulas with their family.
# Factors and texts take their levels from R, logical columns are binary, and columns listed after "binary:" are 0 or 1.
TABLES = {
    "diamonds": ("ggplot2::diamonds", "i price 100 30000, ordinal: cut, carat 0 10, depth 40 80, table 40 100, x 0 20, y 0 60, z 0 40", [
        ("price ~ carat + depth + table + x + y + z", "normal"), ("price ~ carat + cut + color + clarity", "gamma"),
        ("price ~ carat + cut", "student_t"), ("cut ~ carat + depth + table", "cumulative")]),
    "cps": ("AER::CPS1988", "wage 10 20000, i education 0 18, i experience -5 70", [
        ("wage ~ education + experience + ethnicity + smsa + region + parttime", "normal"),
        ("wage ~ education + experience + ethnicity + smsa + region + parttime", "gamma"),
        ("parttime ~ education + experience + ethnicity + region", "bernoulli")]),
    "college": ("AER::CollegeDistance", "score 0 100, unemp 0 40, wage 0 30, distance 0 50, tuition 0 5, i education 10 20", [
        ("education ~ score + gender + ethnicity + fcollege + mcollege + home + urban + unemp + wage + distance + tuition + income + region", "normal"),
        ("score ~ gender + ethnicity + income + wage + distance", "student_t"), ("fcollege ~ mcollege + ethnicity + income + score", "bernoulli")]),
    "credit": ("AER::CreditCard", "i reports 0 20, age 0 100, income 0 20, share 0 1, expenditure 0 5000, i dependents 0 10, i months 0 600, i active 0 50", [
        ("card ~ reports + age + income + owner + selfemp + dependents + active", "bernoulli"), ("reports ~ age + income + owner + selfemp + months + active", "negative_binomial"),
        ("expenditure ~ income + age + owner + reports", "normal")]),
    "doctor": ("AER::DoctorVisits", "i visits 0 20, age 0 1, income 0 2, i illness 0 5, i reduced 0 14, i health 0 12", [
        ("visits ~ gender + age + income + illness + reduced + health + private + freepoor + freerepat + nchronic + lchronic", "poisson"),
        ("visits ~ gender + age + income + illness + reduced + health + freepoor", "negative_binomial"),
        ("private ~ age + gender + income + freerepat + nchronic", "bernoulli")]),
    "nmes": ("AER::NMES1988", "i visits 0 100, i nvisits 0 120, i emergency 0 20, i hospital 0 20, i chronic 0 10, age 6 12, i school 0 20, income -5 60", [
        ("visits ~ hospital + health + chronic + gender + school + insurance", "negative_binomial"),
        ("visits ~ hospital + health + chronic + gender + school + insurance", "poisson"),
        ("hospital ~ chronic + health + adl + age + afam + medicaid", "hurdle_negative_binomial"), ("insurance ~ income + school + afam + age + employed", "bernoulli")]),
    "hmda": ("AER::HMDA", "pirat 0 3, hirat 0 3, lvrat 0 2, unemp 0 20", [
        ("deny ~ pirat + hirat + lvrat + chist + mhist + phist + insurance + selfemp + afam", "bernoulli"), ("deny ~ pirat * afam + lvrat", "bernoulli")]),
    "smoke": ("AER::SmokeBan", "i age 18 100", [("smoker ~ ban + age + I(age^2) + education + afam + hispanic + gender", "bernoulli")]),
    "insurance": ("AER::HealthInsurance", "i age 18 65, i family 1 20", [
        ("insurance ~ age + health + limit + gender + married + selfemp + family + region + ethnicity + education", "bernoulli"), ("family ~ age + married + ethnicity", "poisson")]),
    "gss": ("AER::GSS7402", "i kids 0 8, i age 18 90, i education 0 20, i year 1970 2005, i siblings 0 40, i agefirstbirth 9 60", [
        ("kids ~ age + education + year + siblings + ethnicity + immigrant + lowincome16", "poisson"),
        ("agefirstbirth ~ education + age + ethnicity + siblings", "normal"), ("lowincome16 ~ age + siblings + city16 + immigrant", "bernoulli")]),
    "mroz": ("AER::PSID1976", "i hours 0 5000, i youngkids 0 5, i oldkids 0 10, i age 30 60, i education 0 20, hwage 0 50, i fincome 0 100000, i experience 0 50", [
        ("participation ~ youngkids + oldkids + age + education + fincome + experience + hwage", "bernoulli"), ("fincome ~ education + age + hwage", "normal")]),
    "resume": ("AER::ResumeNames", "i jobs 0 10, i experience 0 50, minimum_years 0 20", [("call ~ ethnicity + gender + quality + experience + honors + email + city", "bernoulli")]),
    "verbal": ("lme4::VerbAgg", "i Anger 0 50, ordinal: resp", [
        ("r2 ~ Anger + Gender + btype + situ + mode + (1 | id)", "bernoulli"), ("resp ~ Anger + Gender + btype + situ + mode", "cumulative")]),
    "achieve": ("mlmRev::Hsb82", "ses -5 5, mAch -5 30, meanses -2 2", [
        ("mAch ~ minrty + sx + ses + meanses + sector + (1 | school)", "normal"), ("mAch ~ minrty * ses + sx", "student_t")]),
    "chemistry": ("mlmRev::Chem97", "i score 0 10, i age -6 6, gcsescore 0 8", [
        ("score ~ gender + age + gcsescore", "normal"), ("score ~ gender + age + gcsescore + (1 | lea)", "normal"), ("score ~ gender + gcsescore", "poisson")]),
    "exam": ("mlmRev::Exam", "normexam -5 5, schavg -3 3, standLRT -5 5", [("normexam ~ standLRT + sex + type + schavg + (1 | school)", "normal")]),
    "chains": ("survival::flchain", "i age 50 105, i sample_yr 1995 2003, kappa 0.01 30, lambda 0 40, creatinine 0 15, i futime 0 6000, binary: mgus death", [
        ("death ~ age + sex + kappa + lambda + creatinine + mgus", "bernoulli"), ("kappa ~ age + sex + creatinine", "gamma"), ("mgus ~ age + sex + kappa", "bernoulli")]),
    "wilms": ("survival::nwtco", "i age 0 200, binary: rel, levels: instit 1|2, levels: histol 1|2, levels: stage 1|2|3|4, levels: study 3|4", [
        ("rel ~ histol + instit + stage + age", "bernoulli"), ("rel ~ histol * stage + age + study", "bernoulli")]),
    "rotterdam": ("{data(cancer, package = 'survival'); rotterdam}", "i age 20 100, i nodes 0 50, i pgr 0 6000, i er 0 4000, binary: meno hormon chemo recur death, levels: grade 2|3", [
        ("death ~ age + meno + size + grade + nodes + pgr + er + hormon + chemo", "bernoulli"), ("nodes ~ age + size + grade + er", "negative_binomial"),
        ("pgr ~ er + age + meno", "normal")]),
    "chile": ("carData::Chile", "i population 0 300000, i age 18 80, i income 0 250000, statusquo -3 3", [
        ("vote ~ sex + age + education + statusquo", "categorical"), ("statusquo ~ region + sex + age + education + income", "normal")]),
    "slid": ("carData::SLID", "wages 1 100, education 0 25, i age 15 100", [
        ("wages ~ education + age + sex + language", "normal"), ("wages ~ education + age + sex + language", "gamma"), ("wages ~ age + I(age^2) + education * sex", "student_t")]),
    "vocab": ("carData::GSSvocab", "i vocab 0 10, i age 18 90, i educ 0 20", [
        ("vocab ~ educ + age + gender + nativeBorn", "normal"), ("nativeBorn ~ age + educ", "bernoulli")]),
    "stops": ("carData::MplsStops", "lat 44 46, long -94 -93, levels: policePrecinct 1|2|3|4|5", [
        ("personSearch ~ race + gender + problem", "bernoulli"), ("vehicleSearch ~ race + gender + policePrecinct", "bernoulli")]),
    "titanic": ("carData::TitanicSurvival", "age 0 100", [("survived ~ sex * passengerClass + age", "bernoulli"), ("survived ~ sex + passengerClass + age", "bernoulli")]),
    "arrests": ("carData::Arrests", "i year 1997 2002, i age 10 80, i checks 0 10", [
        ("released ~ colour * age + sex + employed + citizen + checks", "bernoulli"), ("checks ~ colour + age + sex + employed", "poisson")]),
    "storms": ("dplyr::storms", "i year 1970 2025, i month 1 12, lat 0 80, long -130 30, i wind 1 200, i pressure 850 1050", [
        ("pressure ~ wind + lat + status", "normal"), ("wind ~ lat + long + month + status", "gamma"), ("pressure ~ wind * lat", "student_t")]),
    "ames": ("modeldata::ames", "i Sale_Price 10000 1000000, i Gr_Liv_Area 0 10000, i First_Flr_SF 0 10000, Total_Bsmt_SF 0 10000, i Garage_Area 0 3000, i Year_Built 1850 2020, "
             "i Lot_Area 0 500000, i TotRms_AbvGrd 0 30, i Fireplaces 0 10, i Bedroom_AbvGr 0 15", [
        ("Sale_Price ~ Gr_Liv_Area + First_Flr_SF + Total_Bsmt_SF + Garage_Area + Year_Built + Lot_Area + TotRms_AbvGrd", "normal"),
        ("Sale_Price ~ Gr_Liv_Area + Year_Built + Bldg_Type + Central_Air", "gamma"), ("Fireplaces ~ Sale_Price + Gr_Liv_Area", "poisson")]),
    "loan": ("modeldata::credit_data", "i Seniority 0 60, i Time 0 120, i Age 18 80, i Expenses 0 300, i Income 1 1500, i Assets 0 500000, i Debt 0 50000, i Amount 0 10000, i Price 0 20000", [
        ("Status ~ Seniority + Home + Time + Age + Records + Job + Expenses + Income + Assets + Debt + Amount + Price", "bernoulli"), ("Income ~ Age + Seniority + Job + Home", "gamma"),
        ("Amount ~ Price + Income + Time + Assets", "normal")]),
    "lending": ("modeldata::lending_club", "i funded_amnt 0 40000, int_rate 0 40, annual_inc 0 2000000, i delinq_2yrs 0 40, i inq_last_6mths 0 20, revol_util 0 200, i open_il_24m 0 50, i total_bal_il 0 2000000", [
        ("Class ~ funded_amnt + term + int_rate + annual_inc + delinq_2yrs + revol_util + verification_status", "bernoulli"), ("int_rate ~ funded_amnt + term + annual_inc + revol_util", "normal"),
        ("delinq_2yrs ~ annual_inc + int_rate", "negative_binomial")]),
    "churn": ("modeldata::mlc_churn", "i account_length 0 300, i number_vmail_messages 0 100, total_day_minutes 0 500, total_day_charge 0 100, total_eve_minutes 0 500, total_intl_minutes 0 60, i total_intl_calls 0 40, i number_customer_service_calls 0 20", [
        ("churn ~ total_day_minutes + total_day_charge + total_eve_minutes + international_plan + number_customer_service_calls", "bernoulli"),
        ("churn ~ international_plan * total_intl_minutes + voice_mail_plan + number_vmail_messages", "bernoulli"), ("number_customer_service_calls ~ churn + account_length", "poisson")]),
    "telecom": ("modeldata::wa_churn", "i tenure 0 100, monthly_charges 0 200, total_charges 0 10000", [
        ("churn ~ tenure + contract + internet_service + payment_method + monthly_charges", "bernoulli"), ("total_charges ~ tenure * monthly_charges", "normal")]),
    "stack": ("modeldata::stackoverflow", "Salary 0 250000, i YearsCodedJob 0 20, i CompanySizeNumber 1 10000, i CareerSatisfaction 0 10, binary: OpenSource Hobby DevOps Web_developer", [
        ("Salary ~ Country + YearsCodedJob + OpenSource + Remote + CompanySizeNumber", "normal"), ("Remote ~ YearsCodedJob + Country + OpenSource", "bernoulli")]),
    "staff": ("modeldata::attrition", "i Age 18 70, i DailyRate 0 2000, i DistanceFromHome 0 50, i JobLevel 1 5, i MonthlyIncome 0 30000, i TotalWorkingYears 0 50, i YearsAtCompany 0 50, i NumCompaniesWorked 0 20", [
        ("Attrition ~ Age + OverTime + MonthlyIncome + JobRole + DistanceFromHome + YearsAtCompany", "bernoulli"), ("MonthlyIncome ~ JobLevel + TotalWorkingYears + Age + YearsAtCompany", "normal"),
        ("NumCompaniesWorked ~ Age + TotalWorkingYears + Gender", "negative_binomial")]),
    "concrete": ("modeldata::concrete", "cement 0 600, blast_furnace_slag 0 400, fly_ash 0 250, water 100 300, superplasticizer 0 40, coarse_aggregate 500 1500, fine_aggregate 400 1200, i age 0 400, compressive_strength 0 120", [
        ("compressive_strength ~ cement + blast_furnace_slag + fly_ash + water + superplasticizer + coarse_aggregate + fine_aggregate + age", "normal")]),
    "star": ("mlmRev::star", "i exp 0 50, i read 300 800, i math 300 800", [
        ("read ~ cltype + schtype + ses + sx + eth + (1 | sch)", "normal"), ("math ~ gr + cltype + ses + sx + exp", "student_t")]),
    "fertility": ("AER::Fertility2", "i age 18 40, i work 0 52", [("morekids ~ gender1 + gender2 + age + afam + hispanic + other", "bernoulli"), ("work ~ morekids + age + afam + hispanic", "normal")]),
    "income": ("kernlab::income", "ordinal: INCOME", [("INCOME ~ SEX + AGE + EDUCATION", "cumulative")]),
    "soup": ("ordinal::soup", "ordinal: SURENESS", [("SURENESS ~ PROD + GENDER + AGEGROUP + SOUPTYPE", "cumulative")]),
    "labor": ("plm::LaborSupply", "lnhr 0 10, lnwg -2 8, i kids 0 10, i age 18 70, binary: disab", [("lnhr ~ lnwg + kids + age + disab", "student_t"), ("lnhr ~ lnwg + kids + age + disab", "normal"), ("kids ~ age + lnwg", "poisson")]),
    "patents": ("sandwich::InstInnovation", "i patents 0 2000, institutions 0 100, employment 0 1000, sales 0 200000, capital 0 100000", [
        ("patents ~ institutions + sales + year", "negative_binomial")]),
    "toenail": ("HSAUR3::toenail", "time 0 24, i visit 1 7", [("outcome ~ treatment * time + (1 | patientID)", "bernoulli"), ("outcome ~ treatment + time", "bernoulli")]),
    "pigs": ("geepack::dietox", "Weight 0 150, Feed 0 500, Start 0 50, i Time 1 12", [("Weight ~ Time + Cu + Evit + (1 | Pig)", "normal")]),
    "goals": ("vcd::Bundesliga", "i HomeGoals 0 15, i AwayGoals 0 15, i Year 1960 2015, i Round 1 40", [("HomeGoals ~ AwayGoals + Year + Round", "poisson")]),
    "births": ("Epi::births", "i bweight 0 6000, gestwks 20 45, i matage 15 50, binary: lowbw hyp, levels: sex 1|2", [("bweight ~ gestwks + matage + hyp + sex", "normal"), ("lowbw ~ gestwks + hyp", "bernoulli")]),
}

EXPORT = """a <- commandArgs(TRUE); x <- as.data.frame(eval(parse(text = a[1]))); names(x) <- gsub("[^A-Za-z0-9]", "_", names(x))
for (n in names(x)) if (is.factor(x[[n]]) || is.character(x[[n]])) x[[n]] <- factor(x[[n]], ordered = FALSE)
write.csv(x, paste0(a[2], ".csv"), row.names = FALSE)
for (n in names(x)) if (is.factor(x[[n]]) && nlevels(x[[n]]) < 2000) cat(n, paste(levels(x[[n]]), collapse = "|"), sep = "\\t", fill = FALSE, "\\n", file = paste0(a[2], ".levels"), append = TRUE)
for (n in names(x)) if (is.logical(x[[n]])) cat(n, "FALSE|TRUE", sep = "\\t", "\\n", file = paste0(a[2], ".levels"), append = TRUE)
"""


def table(name):
    """Exports a table and writes its codebook; returns its number of rows."""
    home = f"rtables/{name}"
    if os.path.exists(f"{home}.codebook.csv"):
        return sum(1 for _ in csv.reader(open(f"{home}.csv"))) - 1
    expression, declared, _ = TABLES[name]
    if "::" in expression:
        package, item = expression.split("::")
        expression = f"{{data({item}, package = '{package}'); {item}}}"
    if os.path.exists(f"{home}.levels"):
        os.remove(f"{home}.levels")
    subprocess.run(["Rscript", "-e", EXPORT, expression, home], check=True, stdout=subprocess.DEVNULL)
    levels = dict(line.rstrip("\t \n").split("\t")[:2] for line in open(f"{home}.levels")) if os.path.exists(f"{home}.levels") else {}
    rows, ordinal = {}, []
    for item in [x.strip() for x in declared.split(",") if x.strip()]:
        if item.startswith("binary:"):
            rows |= {c: {"type": "binary", "levels": "0|1"} for c in item.split()[1:]}
        elif item.startswith("ordinal:"):
            ordinal = item.split()[1:]
        elif item.startswith("levels:"):
            rows[item.split()[1]] = {"type": "categorical", "levels": item.split()[2]}
        else:
            words = item.split()
            kind = "integer" if words[0] == "i" else "real"
            column, lower, upper = words[-3:]
            rows[column] = {"type": kind, "lower": lower, "upper": upper}
    with open(f"{home}.csv") as f:
        columns = next(csv.reader(f))
    with open(f"{home}.codebook.csv", "w", newline="") as f:
        w = csv.DictWriter(f, ["name", "type", "lower", "upper", "levels"])
        w.writeheader()
        for c in columns:
            if c in rows:
                w.writerow({"name": c, **rows[c]})
            elif c in levels:
                w.writerow({"name": c, "type": "ordinal" if c in ordinal else "binary" if levels[c].count("|") == 1 else "categorical", "levels": levels[c]})
    with open(f"{home}.csv") as f:
        return sum(1 for _ in csv.reader(f)) - 1


def fit(command, out, data):
    """The summary of a fit, by variable, in the units of the declared scales; None where the fit fails."""
    found = glob.glob(f"{out}/**/summary.csv", recursive=True)
    if not found:
        shutil.rmtree(out, ignore_errors=True)
        start = time.time()
        done = subprocess.run([*command, "--out", out, "--formats", "csv", "--quiet", data], capture_output=True, text=True, env={**os.environ, "GOMAXPROCS": "1"})
        with open(f"{out}.log", "w") as f:
            f.write(f"status {done.returncode}, {time.time() - start:.0f} s\n{done.stderr}")
        found = glob.glob(f"{out}/**/summary.csv", recursive=True)
        if done.returncode or time.time() - start > 60:
            print(f"{out}: status {done.returncode}, {time.time() - start:.0f} s: {done.stderr[-400:].strip()}", flush=True)
        if not found:
            return None
    t = pd.read_csv(found[0], index_col="variable")
    return t[~t.index.str.contains("_raw")]


def compared(d3p, name, number, epsilons, seeds):
    """The coefficients of one formula: of each fit with privacy beside that without."""
    records, home = table(name), f"rtables/{name}-{number}"
    formula, family = TABLES[name][2][number]
    os.makedirs(home, exist_ok=True)
    made = subprocess.run([d3p, "init", "--from", f"rtables/{name}.codebook.csv", "--entity", "person", "--records", str(records), "--formula", formula, "--family", family],
                          capture_output=True, text=True)
    if made.returncode:
        print(f"{home}: init: {made.stderr[-400:].strip()}", flush=True)
        return
    model, data = f"{home}/model.yaml", f"rtables/{name}.csv"
    with open(model, "w") as f:
        f.write(re.sub(r"unit: \{.*?\}", "unit: {entity: person, rows_per_unit: 1}", made.stdout, count=1))
    truth = fit([d3p, "fit-nonprivate", "--model", model], f"{home}/without", data)
    if truth is None:
        return
    for epsilon in epsilons:
        for seed in range(seeds):
            private = [d3p, "fit", "--epsilon", epsilon, "--insecure-noise-seed", str(100 + seed), "--model", model]
            t = fit(private, f"{home}/{epsilon}-{seed}", data)
            if t is not None:
                t = t.join(truth[["mean", "sd"]], rsuffix=" without")
                yield t.reset_index().assign(name=f"{name}/{number}", family=family, epsilon=epsilon, seed=seed)


def main():
    d3p, epsilons, seeds = sys.argv[1:4]
    os.makedirs("rtables", exist_ok=True)
    asked = sys.argv[4].split(",") if len(sys.argv) > 4 else TABLES
    names = [(n.split("/")[0], k) for n in asked for k in ([int(n.split("/")[1])] if "/" in n else range(len(TABLES[n][2])))]
    t = pd.concat([x for n, k in names for x in compared(d3p, n, k, epsilons.split(","), int(seeds))])
    t = t[~t["variable"].str.contains("^[zr]_")]
    t["z"] = (t["mean"] - t["mean without"]) / t["sd"]
    t["holds"] = (t["q5"] <= t["mean without"]) & (t["mean without"] <= t["q95"])
    t["wrong"] = (np.sign(t["mean"]) != np.sign(t["mean without"])) & (t["q5"] * t["q95"] > 0) & (t["mean without"].abs() > 3 * t["sd without"])
    for by in (["epsilon", "verdict"], ["family", "epsilon"], ["name", "epsilon", "verdict"]):
        groups = t.groupby(by)
        print(groups.agg(intervals=("holds", "size"), holds=("holds", "mean"), farthest=("z", lambda z: z.abs().max())).round(2).to_string(), "\n")
    far = t[(t["z"].abs() > 4) | t["wrong"]]
    print(far[["name", "family", "epsilon", "seed", "variable", "mean without", "sd without", "mean", "sd", "z", "verdict", "why"]].round(3).to_string())


if __name__ == "__main__":
    main()
