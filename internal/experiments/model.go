package main

import (
	"fmt"
	"strings"
)

// logisticModel is the model file of a logistic regression of y on names unchanged
// (declared bounds wide enough never to clamp, scale one).
func logisticModel(name string, records int, names []string, intercept bool, priorSD float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", name, records)
	for _, n := range names {
		fmt.Fprintf(&b, "    %s: {type: real, lower: -200, upper: 200, scale: {center: 0, by: 1}, source: expert}\n", n)
	}
	b.WriteString("    y: {type: binary, levels: [\"0\", \"1\"]}\n")
	terms := "0"
	if intercept {
		terms = "1"
	}
	fmt.Fprintf(&b, "model:\n  formula: y ~ %s + %s\n  family: bernoulli\n  link: logit\n  priors:\n    b: normal(0, %g)\n", terms, strings.Join(names, " + "), priorSD)
	if intercept {
		fmt.Fprintf(&b, "    Intercept: normal(0, %g)\n", priorSD)
	}
	b.WriteString("privacy:\n  neighbours: add_remove\n")
	return b.String()
}

// numbered returns prefix1..prefixN.
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i+1)
	}
	return out
}
