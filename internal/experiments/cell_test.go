package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy/noise"
)

// TestCellsAreWhatTheySay compiles the model of every cell, and compares the linear
// predictor of its parameters with the responses of a linear table: so truths are on
// the scale of the model file. No response lies beyond its declared limit.
func TestCellsAreWhatTheySay(t *testing.T) {
	const n = 4000
	for _, c := range cells {
		for _, f := range families {
			if !c.has(f) {
				continue
			}
			label := f.name + " " + c.name
			table, truth := c.draw(f, n, noise.NewRandom(noise.Public(3).Stream(noise.Simulation)))
			m, err := models.Read(label, []byte(c.model(f, n, limitOf(table), 1)), nil)
			if err != nil {
				t.Fatal(label, err)
			}
			if y := m.Spec.Data.Column("y"); y.Upper.IsSet() {
				for _, row := range table.rows {
					if x := row[len(row)-1]; x < y.Lower.V || x > y.Upper.V {
						t.Fatalf("%s: %g is clamped to [%g, %g]", label, x, y.Lower.V, y.Upper.V)
					}
				}
			}
			if f.name != "linear" {
				continue
			}
			var square float64
			for _, row := range table.rows {
				left := row[len(row)-1] - truth["Intercept"]
				for j, name := range table.header {
					switch name {
					case "y":
					case "band":
						left -= truth[fmt.Sprintf("b[band=%g]", row[j])]
					case "site":
						left -= truth[fmt.Sprintf("r_site[%g,Intercept]", row[j])]
					default:
						center, by := column0(m, name)
						if c.bought {
							center, by = 0, 1
						}
						left -= truth["b["+name+"]"] * (row[j] - center) / by
					}
				}
				square += left * left / n
			}
			// Chi-squared with 4000 degrees of freedom: seven standard deviations are 8 %.
			if sigma := truth["sigma"]; math.Abs(math.Sqrt(square)/sigma-1) > 0.08 {
				t.Errorf("%s: residuals have sd %g, want %g", label, math.Sqrt(square), sigma)
			}
		}
	}
}

// column0 is the declared scale of a column.
func column0(m *models.Model, name string) (center, by float64) {
	for _, c := range m.Spec.Data.Columns {
		if c.Name.V == name {
			return c.Scale()
		}
	}
	panic(name)
}

// TestCoverageOfIntervals counts intervals by hand, from a file of results alone.
func TestCoverageOfIntervals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "intervals.csv")
	row := "logistic,%s,300,%g,%d,%q,%g,0,1,%g,%g,%s,2\n"
	var b strings.Builder
	// Three of four intervals hold; the fourth has the wrong sign and twice the width.
	fmt.Fprintf(&b, row, "wide2.5", 1., 0, "b[u1]", 0.5, -1., 1., "resolved")
	fmt.Fprintf(&b, row, "wide2.5", 1., 0, "b[u2]", -0.5, 1., 3., "resolved")
	fmt.Fprintf(&b, row, "wide2.5", 1., 1, "b[u1]", 0.5, -1., 1., "resolved")
	fmt.Fprintf(&b, row, "wide2.5", 1., 1, "b[u2]", 2., 1., 3., "partly")
	for k := range 2 {
		fmt.Fprintf(&b, row, "right", 1., k, "b[u1]", 0.5, -.2, .2, "resolved")
		fmt.Fprintf(&b, row, "right", 1., k, "b[u2]", 0.5, -.2, .2, "resolved")
		fmt.Fprintf(&b, row, "wide2.5", 0., k, "b[u1]", 0.5, -.25, .25, "")
		fmt.Fprintf(&b, row, "wide2.5", 0., k, "b[u2]", float64(k), -.25, .25, "")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	opt := options{d3p: "/no/such/program", models: "logistic", records: "300", epsilons: "1", cells: "wide2.5", tables: 2, references: 2, results: path}
	if err := (cellTask{}).judge(opt, nil, t.TempDir(), newReport(&out)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"75 ± 25 % hold", "width 2.00 of right", "4.00 of non-private (25 % of these hold)", "wrong signs 1 of 4 (1 called resolved), of 3 called resolved 67 % hold, of 1 called partly 100 % hold"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	// A table that the file has not is fitted.
	opt.tables = 3
	if err := (cellTask{}).judge(opt, nil, t.TempDir(), newReport(&out)); err == nil {
		t.Error("no fit of the third table")
	}
	// Epsilon 0 asks for fits without privacy, whatever the number of references is.
	opt.epsilons, opt.references = "0", 0
	if err := (cellTask{}).judge(opt, nil, t.TempDir(), newReport(&out)); err == nil {
		t.Error("no fit of the third table without privacy")
	}
}

// Fits that end with status 6, without or with a release, are counted, and no result counts.
func TestFailedFitsCount(t *testing.T) {
	program := filepath.Join(t.TempDir(), "d3p")
	const text = "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ $1 = --out ] && mkdir -p $2/release && echo variable,mean,q5,q95,verdict > $2/release/summary.csv; shift; done\nexit 6\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	opt := options{d3p: program, models: "logistic", records: "300", epsilons: "1", cells: "right", tables: 3, references: 2}
	if err := (cellTask{}).judge(opt, nil, t.TempDir(), newReport(&out)); err == nil || strings.Count(err.Error(), "exit status 6") != 5 {
		t.Errorf("error %v, want one for each of 5 fits", err)
	}
	if !strings.Contains(out.String(), "FAILED: 5 fits") {
		t.Errorf("no number of failures in\n%s", out.String())
	}
}

// A fit can be repeated alone, by -first and one table.
func TestTableHasOneCommand(t *testing.T) {
	for _, epsilon := range []float64{0, 1} {
		among := cellSetting{families[0], cells[0], 1000, epsilon, 20000}.arguments(options{}, 10)
		alone := cellSetting{families[0], cells[0], 1000, epsilon, 20010}.arguments(options{}, 0)
		if !slices.Equal(among, alone) {
			t.Errorf("table 20010 is fitted by %q among others, by %q alone", among, alone)
		}
	}
}

// Every cell has a plan at every price of the task: what a cell buys leaves enough for the fit.
func TestCellsHavePlans(t *testing.T) {
	for _, c := range cells {
		if !c.bought {
			continue
		}
		for _, epsilon := range []float64{0.3, 1, 4} {
			m, err := models.Read(c.name, []byte(c.model(families[0], 300, 200, epsilon)), nil)
			if err == nil {
				_, err = plan.New(m, plan.Config{Epsilon: epsilon, Records: 300})
			}
			if err != nil {
				t.Errorf("%s at epsilon %g: %v", c.name, epsilon, err)
			}
		}
	}
}
