"""python3 trim.py GOLDEN_DIRECTORY: keeps the fields that graph's golden test reads."""
import json, pathlib, sys

KEEP = {"theta", "loglik", "grad", "grad_norm", "logprior", "grad_logprior"}
for name in ["lr_prior1", "lr_prior4", "hlr", "gmm_sd_1_1", "gmm_sd_2_10", "gmm_var_10_1"]:
    d = json.loads((pathlib.Path(sys.argv[1]) / (name + ".json")).read_text())
    cases = []
    for c in d["cases"]:
        cut = {k: c[k] for k in KEEP}
        cut["aligned_step"] = {k: c["aligned_step"][k] for k in ("m", "log_s", "eta")}
        cut["vanilla_step"] = {k: c["vanilla_step"][k] for k in ("per_example", "norm")}
        cases.append(cut)
    d["cases"] = cases
    d.pop("trajectories", None)
    pathlib.Path(name + ".json").write_text(json.dumps(d, separators=(",", ":"), sort_keys=True) + "\n")
