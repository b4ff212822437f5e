package table1

import (
	"math"
	"testing"

	"d3p/internal/privacy/event"
)

// The rows give the law back to their six digits: quantiles, shares and correlations.
// Without rows it is the declared law.
func TestLawOfRows(t *testing.T) {
	m, file := cohort(t), records(t, 4000)
	p := Auto(m, muOf(4, event.AddRemove), 4000, event.AddRemove)
	bought, _ := buy(t, m, file, 4, p, 7, event.AddRemove)
	d := &m.Spec.Data
	read, err := LawOf(Rows(bought, d), d)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, unit float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 2e-5*unit) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("units", read.Records, bought.Records, bought.Records)
	for i := range bought.Columns {
		a, b := &read.Columns[i], &bought.Columns[i]
		near("missing "+a.Name, a.Missing, b.Missing, 1)
		for u := 0.05; u < 1; u += 0.1 {
			x, y := a.Quantile(u), b.Quantile(u)
			if b.Edges == nil && math.Abs(x-y) == 1 {
				continue // a share is rounded over u
			}
			near("quantile of "+a.Name, x, y, 1+math.Abs(y))
		}
	}
	for i := range bought.Columns {
		for j := range i {
			rho, sd := bought.Correlated(i, j)
			at := i*len(bought.Columns) + j
			near("correlation", read.Correlation[at], rho, 1)
			near("noise of a correlation", read.CorrelationSD[at], sd, 1)
		}
	}
	if declared, err := LawOf(nil, d); err != nil || declared.Bought() {
		t.Errorf("without rows: bought %v, %v", declared.Bought(), err)
	}
	for _, wrong := range []Row{
		{Column: "nobody", Statistic: Share}, {Column: "age", Statistic: Cell, Of: "5 to 4"}, {Column: "age", Statistic: Cell, Of: "old"},
		{Column: "age", Statistic: Part, Of: "1 to 2"},
		{Column: "age", Statistic: Correlation, Of: "nobody"},
	} {
		if _, err := LawOf([]Row{wrong}, d); err == nil {
			t.Errorf("%+v was read", wrong)
		}
	}
}
