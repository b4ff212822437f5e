package spec

// Blank marks a place of a skeleton that a person must fill in.
const Blank = "FILL_IN"

// blankHint says what may stand in a place of a skeleton.
func blankHint(key string) string {
	switch key {
	case "entity":
		return "patient, person, household: whom a guarantee is to protect"
	case "public":
		return "the number of rows, when anybody may know it; else {upper_bound: N}"
	case "type":
		return "real, integer, date, binary, category or ordinal"
	case "lower", "upper":
		return "what is possible, from a code book or an expert, not what is in the data"
	case "decimal":
		return `"," as in 3,14 or "." as in 3.14`
	case "formula":
		return "outcome ~ a + b"
	case "family":
		return "bernoulli for a binary outcome, normal for a real one, poisson for a count"
	}
	return "as in {type: real, lower: 18, upper: 100}, or take the column out"
}
