import json, pathlib, subprocess, tempfile
import xarray as xr

def d3p(formula, data, columns, epsilon, records, family="bernoulli", priors=None,
        unit="person", constant_within=None, out=None, binary="d3p", **settings):
    """Fit a formula privately. data: a DataFrame or a path. columns: for every column of the
    formula its public bounds, (18, 100) or (0.0, 3.5), its levels, ["no", "yes"], or all that
    the model file can say, {"type": "real", "lower": 0, "upper": 9, "scale": {"center": 2, "by": 1}}.
    records: a public number of units. constant_within: "none" if every column varies within the
    groups of the formula. settings: flags of d3p fit, such as delta=1e-6."""
    def declared(name, c):
        if isinstance(c, dict):
            return c
        if all(isinstance(x, str) for x in c):
            observed = family == "bernoulli" and name == formula.split("~")[0].strip()
            return {"type": "binary" if observed else "category", "levels": list(c)}
        lower, upper = c
        kind = "integer" if isinstance(lower, int) and isinstance(upper, int) else "real"
        return {"type": kind, "lower": lower, "upper": upper}
    out = pathlib.Path(out or tempfile.mkdtemp()) / "run"
    out.parent.mkdir(exist_ok=True)
    model = out.parent / "model.yaml"
    model.write_text(json.dumps({"d3p": 1, "name": "model",
        "data": {"unit": {"entity": unit, "rows_per_unit": 1}, "rows": {"public": records},
                 "columns": {name: declared(name, c) for name, c in columns.items()},
                 **({"constant_within": constant_within} if constant_within else {})},
        "model": {"formula": formula, "family": family, **({"priors": priors} if priors else {})}}, indent=1))
    if not isinstance(data, (str, pathlib.Path)):
        table = out.parent / "data.csv"
        data[list(columns)].to_csv(table, index=False)
        data = table
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    done = subprocess.run([binary, "fit", "--epsilon", str(epsilon), "--model", str(model),
                           "--out", str(out), "--json", *flags, str(data)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    result = xr.open_zarr(out / "release" / "idata.zarr", group="posterior", consolidated=False)
    said = json.loads(done.stdout)
    return result.assign_attrs(claim=said["claim"], statistics=said.get("verdict"), warnings=done.stderr, release=str(out / "release"))
