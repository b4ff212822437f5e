"""Keeps of the golden vectors what the tests of this package read.

usage: trim.py GOLDEN_DIR (the directory that holds lr_prior1.json, hlr.json, ...)
"""
import json, pathlib, sys

here = pathlib.Path(__file__).parent
for name in ["lr_prior1", "hlr", "gmm_var_10_1", "gmm_sd_2_10"]:
    full = json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text())
    keep = {k: v for k, v in full.items() if k not in ("cases", "trajectories", "log_weights")}
    keep["cases"] = [
        {k: c[k] for k in ("theta", "loglik", "grad", "logprior", "grad_logprior")}
        | {"step": {k: c["aligned_step"][k] for k in ("m", "log_s", "eta")},
           "vanilla": c["vanilla_step"]["per_example"]}
        for c in full["cases"][:2]
    ]
    (here / f"{name}.json").write_text(json.dumps(keep) + "\n")
    if name == "hlr":
        rows = [f"{g},{a!r},{b!r}" for g, (a, b) in zip("abc", full["group_covariates"])]
        (here / "groups.csv").write_text("\n".join(["group,g1,g2", *rows]) + "\n")
