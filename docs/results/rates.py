"""Default rates of networks, on three tables and three simulated texts that did not choose them.

python3 docs/results/rates.py D3P DATA [TASK...] fits each table at a quarter to four times the
default rate, with everything else by default and three noise seeds, and prints the mean accuracy
and log score on the table's own test file.
"""
import csv
import math
import os
import random
import re
import subprocess
import sys
import tempfile

TASKS = {  # target, what is positive, columns, hidden layers
    "abalone": ("rings", lambda v: float(v) > 9, "sex length diameter height whole_weight shucked_weight "
                "viscera_weight shell_weight", [(32, "relu")]),
    "nhanes": ("Sex", lambda v: v == "male", "Age Race1 Weight Height BMI Pulse BPSysAve BPDiaAve DirectChol TotChol",
               [(256, "tanh"), (64, "tanh")]),
    "adult": ("income", lambda v: v == ">50K", "age workclass education education_num marital_status occupation "
              "relationship race sex capital_gain capital_loss hours_per_week", [(64, "relu"), (32, "relu")]),
}
TEXTS = {  # records, tokens that there are, most of a text, layers
    "embedding": (12000, 700, 20, "{embedding: {levels: words_levels, units: 24}}, global_avg_pool"),
    "gru": (5000, 900, 8, "{embedding: {levels: words_levels, units: 8}}, {gru: {units: 12}}"),
    "attention": (5000, 1000, 8, "{embedding: {levels: words_levels, units: 8}}, positions, "
                  "{transformer: {heads: 2, units: 16}}, global_avg_pool"),
}
FACTORS, EPSILONS, SEEDS = (0.25, 0.5, 1, 2, 4), (1, 3), (1, 2, 3)


def encode(folder, target, positive, names, file):
    """Numbers from -2 to 2 between their public bounds, levels as 0 and 1; rows without a number are left out."""
    columns = {r["name"]: r for r in csv.DictReader(open(f"{folder}/columns.csv"))}
    out = []
    for record in csv.DictReader(open(f"{folder}/{file}.csv")):
        row = []
        for name in names:
            column, value = columns[name], record[name]
            if column["levels"]:
                row += [int(value == level) for level in column["levels"].split("|")]
            elif value:
                low, high = float(column["lower"]), float(column["upper"])
                row.append("%.5g" % max(-2, min(2, 4 * (float(value) - low) / (high - low) - 2)))
            else:
                row = None
                break
        if row and record[target]:
            out.append(row + [int(positive(record[target]))])
    return out


def simulate(task, records, tokens, most, seed):
    """Texts of random tokens, frequent ones first. For the embedding y depends on the sum of their weights, for the
    gru one token in ten turns the sign of the next, for attention the sign is that of the most weighty token."""
    rng = random.Random(seed)
    weights = [random.Random(1000 * tokens + k).gauss(0, 1) for k in range(tokens)]
    often = [1 / (k + 5) for k in range(1, tokens)]
    out = []
    for _ in range(records):
        words = rng.choices(range(1, tokens), often, k=rng.randint(most // 2, most))
        signs = [-1 if i and task == "gru" and words[i - 1] % 10 == 3 else 1 for i in range(len(words))]
        effects = [s * weights[w] for w, s in zip(words, signs)]
        score = max(effects, key=abs) if task == "attention" else sum(effects) * 1.5 / math.sqrt(most)
        out.append([" ".join(map(str, words)), int(rng.random() < 1 / (1 + math.exp(-2 * score)))])
    return out


MODEL = """d3p: 1
name: {task}
data:
  unit: {{entity: record, rows_per_unit: 1}}
  rows: {{public: {records}}}
  columns:
    y: {{type: binary, levels: ["0", "1"]}}
  tensors:
    {tensor}
nets:
  net:
    input: [f]
    layers: [{layers}, {{dense: {{units: 1}}}}]
core:
  rows:
    observe:
      y: bernoulli(logits=net({call}))
privacy: {{epsilon: 1, delta: 1.0e-5, neighbours: add_remove}}
output: {{draws: 0, weights: safetensors}}
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(d3p, data, *tasks):
    d3p, data = os.path.abspath(d3p), os.path.abspath(data)
    os.chdir(tempfile.mkdtemp())
    for task in tasks or [*TASKS, *TEXTS]:
        if task in TEXTS:
            inputs = text_task(task)
        else:
            inputs = table_task(data, task)
        plan = run(d3p, "plan", "model.yaml", "--json")
        rate = float(re.search(r'"learning_rate": *([0-9.e-]+)', plan).group(1))
        print(f"{task}: {inputs} inputs, default rate {rate:g}; accuracy and log score at times the default rate")
        print("epsilon " + "".join(f"{f:>16g}" for f in FACTORS))
        for epsilon in EPSILONS:
            cells = [score(d3p, epsilon, rate * f) for f in FACTORS]
            print(f"{epsilon:<8}" + "".join(f"   {a:.3f} {s:+.3f}" .rjust(16) for a, s in cells), flush=True)


def table_task(data, task):
    """Writes the model, the training and the test file of a table; the number of inputs."""
    target, positive, names, hidden = TASKS[task]
    rows = {file: encode(f"{data}/{task}", target, positive, names.split(), file) for file in ("train", "test")}
    inputs = len(rows["train"][0]) - 1
    tensor = (f'x: {{from: columns("x0".."x{inputs - 1}"), dims: [f], shape: [{inputs}], lower: -2, upper: 2, '
              "scale: {center: 0, by: 1}, source: public bounds}")
    layers = ", ".join(f"{{dense: {{units: {u}, activation: {a}}}}}" for u, a in hidden)
    write(rows, [f"x{i}" for i in range(inputs)], task=task, tensor=tensor, layers=layers, call="x")
    return inputs


def text_task(task):
    """Likewise, of a simulated text."""
    records, tokens, most, layers = TEXTS[task]
    rows = {"train": simulate(task, records, tokens, most, 1), "test": simulate(task, 5000, tokens, most, 2)}
    tensor = f"words: {{from: words, tokens: {tokens}, dims: [f], shape: [{most}]}}"
    write(rows, ["words"], task=task, tensor=tensor, layers=layers, call="words, length=words_length")
    return most


def write(rows, names, **model):
    for file in rows:
        with open(f"{file}.csv", "w") as f:
            csv.writer(f).writerows([names + ["y"]] + rows[file])
    with open("model.yaml", "w") as f:
        f.write(MODEL.format(records=len(rows["train"]), **model))


def score(d3p, epsilon, rate):
    accuracy = log = 0.0
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            run(d3p, "fit", "--epsilon", str(epsilon), "--learning-rate", f"{rate:.3g}", "--insecure-noise-seed", str(seed),
                "--model", "model.yaml", "train.csv", "--out", f"{folder}/run", "--quiet")
            metrics = run(d3p, "predict", f"{folder}/run", "test.csv", "--metrics")
        accuracy += float(re.search(r"accuracy\s+([0-9.]+)", metrics).group(1)) / len(SEEDS)
        known = re.search(r"log score\s+(-?[0-9.]+)", metrics)  # none where a row is impossible
        log += float(known.group(1)) / len(SEEDS) if known else float("nan")
    return accuracy, log


main(*sys.argv[1:])
