package formula

// replacements are functions in formulas of R, brms and mgcv, with their replacements.
var replacements = map[string]string{
	"s": curveHint, "ns": curveHint, "bs": curveHint, "gp": curveHint, "ti": curveHint, "te": curveHint, "t2": curveHint, "rcs": curveHint,
	"factor": categoryHint, "as.factor": categoryHint, "ordered": categoryHint, "C": categoryHint,
	"mo":      "write the plain column: an ordinal predictor has a coefficient per level",
	"cs":      "write plain x: `family: categorical` has effects by category",
	"relevel": "declare `reference:` for the column",
	"log2":    "write log(x): a unit of log2(x) is .69 of its units",
	"log10":   "write log(x): a unit of log10(x) is 2.30 of its units",
	"ifelse":  "write the condition, I(x > 3), or cut(x, 3)",
	"mi":      "declare `missing: model` for the column",
	"me":      "write core blocks, with the true value as a latent number per record",
	"gr":      "write (1 | g)",
	"mm":      "write one group a term, (1 | g) + (1 | h)",
	"strata":  "write the column as a predictor, or (1 | g)",
	"weights": "name the column under `data:`, weights: w; those of a survey divided by their mean",
	"cluster": "declare the person as `unit:`; a record's effect is bounded by unit",
	"frailty": "write (1 | g)",
	"ar":      notRecords, "ma": notRecords, "arma": notRecords, "lag": notRecords, "cosy": notRecords, "car": notRecords, "sar": notRecords,
}

// responses are functions in responses of R, with their replacements.
var responses = map[string]string{
	"Surv":  "write surv(time, event)",
	"cbind": "write y | trials(n)",
}

const (
	curveHint    = "write spline(x, 30, 50, 70) with three or more knots, or poly(x, 3)"
	categoryHint = "write the plain column and declare it as {type: category, levels: [...]}"
	notRecords   = "records are independent given the model; give groups a term (1 | g)"
)
