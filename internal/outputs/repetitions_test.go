package outputs

import (
	"strings"
	"testing"
)

// A point has no spread, whatever rounding does to the mean.
func TestSummaryOfAPoint(t *testing.T) {
	x := make([]float64, 4000)
	for i := range x {
		x[i] = 0.56
	}
	if s := summarise(Variable{Name: "b"}, x, x); s.Mean != 0.56 || s.SD != 0 || s.MCSESD != 0 {
		t.Errorf("mean %v, sd %v", s.Mean, s.SD)
	}
}

func TestWithoutRepetitions(t *testing.T) {
	var rows []Summary
	for _, name := range strings.Fields("b[a] z_g[1] r_g[1] z_other[1] z_h[1] r_h_raw[1] b_raw[a] raw_b Intercept Intercept_raw sensor_raw L_h[x,z] cor_h L_k[x,z]") {
		rows = append(rows, Summary{Variable: name, SD: 1})
	}
	rows = append(rows, Summary{Variable: "L[1,1]", Mean: 1, SD: 8e-14}, Summary{Variable: "L[1,2]"}, Summary{Variable: "L[2,1]", SD: 1e-12}, Summary{Variable: "point", Mean: 0.56})
	var got []string
	for _, r := range WithoutRepetitions(rows) {
		got = append(got, r.Variable)
	}
	if want := "b[a] r_g[1] z_other[1] r_h_raw[1] raw_b Intercept sensor_raw cor_h L_k[x,z] L[2,1] point"; strings.Join(got, " ") != want {
		t.Errorf("shown %v, want %s", got, want)
	}
}

// Coefficients in the unit of the file stand in the place of the scaled ones; what
// has no such pair stays.
func TestInFileUnits(t *testing.T) {
	var rows []Summary
	for _, name := range strings.Fields("Intercept b[a] b[g=x] sigma sd_g[1] raw_b sensor_raw b_raw[a] b_raw[g=x] Intercept_raw") {
		rows = append(rows, Summary{Variable: name})
	}
	kept, any := InFileUnits(rows)
	var got []string
	for _, r := range kept {
		got = append(got, r.Variable)
	}
	if want := "Intercept_raw b_raw[a] b_raw[g=x] sigma sd_g[1] raw_b sensor_raw"; strings.Join(got, " ") != want || !any {
		t.Errorf("rows %v, want %s", got, want)
	}
	if _, any := InFileUnits(rows[3:7]); any {
		t.Error("found a pair among unrelated rows")
	}
}
