package outputs_test

import (
	"math"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
	"d3p/internal/report/reporttest"
)

// Ratios are exp of the coefficients, draw by draw, and of no other parameter.
func TestRatios(t *testing.T) {
	d := reporttest.Example(t, plan.Config{Epsilon: 1}).Draws
	ratios := d.Ratios()
	if ratios.S != d.S || len(ratios.Variables) == 0 || len(ratios.Variables) == len(d.Variables) {
		t.Fatalf("%d draws of %d of %d variables", ratios.S, len(ratios.Variables), len(d.Variables))
	}
	at := map[string]int{}
	for v := range d.Variables {
		at[d.Variables[v].Name] = v
	}
	for v, variable := range ratios.Variables {
		switch name, _ := naming.Split(variable.Name); name {
		case "Intercept", "b", "Intercept_raw", "b_raw":
		default:
			t.Errorf("%s is no coefficient", variable.Name)
		}
		for i, x := range d.Of(at[variable.Name]) {
			if got := ratios.Of(v)[i]; got != math.Exp(x) {
				t.Fatalf("%s: draw %d is %v, want exp(%v)", variable.Name, i, got, x)
			}
		}
	}
}

// The ends of intervals leave equal shares of the draws outside.
func TestBound(t *testing.T) {
	d := outputs.Draws{S: 1001, Variables: []outputs.Variable{{Name: "b"}}, Values: make([]float64, 1001)}
	for i := range d.Values {
		d.Values[i] = float64((i * 5) % 1001) // 0 to 1000, each once
	}
	rows := d.Summarise()
	if rows[0].Lower != nil {
		t.Error("an interval that nobody asked for")
	}
	d.Bound(rows, 0.95)
	if math.Abs(*rows[0].Lower-25) > 1e-9 || math.Abs(*rows[0].Upper-975) > 1e-9 {
		t.Errorf("%v to %v, want 25 to 975", *rows[0].Lower, *rows[0].Upper)
	}
}
