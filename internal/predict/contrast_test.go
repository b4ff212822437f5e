package predict

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// With two draws the posterior of every contrast can be computed by hand. Compare skips a row
// that lacks a value, and compares the averages draw by draw.
func TestCompare(t *testing.T) {
	m := compile(t, "    y: {type: binary, levels: [\"0\", \"1\"]}\n", "  formula: y ~ 1 + x\n  family: bernoulli\n  link: logit\n")
	theta := []float64{0, 1, 1, -2} // (Intercept, b[x]) of two draws
	const n = 600                   // more than two blocks
	rows, others := Rows{N: n, Stride: 1, Valid: make([]bool, n)}, Rows{N: n, Stride: 1, Valid: make([]bool, n)}
	for i := range n {
		rows.Data, others.Data = append(rows.Data, float64(i)/100-3), append(others.Data, 0.5)
		rows.Valid[i], others.Valid[i] = i != 7, i != 500
	}
	risk := func(draw int, x float64) float64 { return 1 / (1 + math.Exp(-theta[2*draw]-theta[2*draw+1]*x)) }
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-12) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	var sums, otherSums [2]float64
	seen := 0
	average, err := Compare(m, listed(theta, 2), rows, others, source{rand.New(rand.NewPCG(1, 2))}, func(i int, c Contrast) error {
		if i != seen || c.OK != (i != 7 && i != 500) {
			t.Fatalf("row %d: %+v", i, c)
		}
		seen++
		if !c.OK {
			return nil
		}
		var d, r [2]float64
		for s := range 2 {
			x, y := risk(s, rows.Data[i]), risk(s, 0.5)
			d[s], r[s] = x-y, x/y
			sums[s] += x / (n - 2)
			otherSums[s] += y / (n - 2)
		}
		near("difference", c.Difference.Mean, (d[0]+d[1])/2)
		near("its sd", c.Difference.SD, math.Abs(d[0]-d[1])/2)
		near("its quantile", c.Difference.Lower, min(d[0], d[1])+0.05*math.Abs(d[0]-d[1]))
		near("ratio", c.Ratio.Mean, (r[0]+r[1])/2)
		return nil
	})
	if err != nil || seen != n {
		t.Fatalf("%d rows, %v", seen, err)
	}
	near("average", average.Mean, (sums[0]+sums[1])/2)
	near("difference of averages", average.Difference.Mean, (sums[0]-otherSums[0]+sums[1]-otherSums[1])/2)
	near("ratio of averages", average.Ratio.Mean, (sums[0]/otherSums[0]+sums[1]/otherSums[1])/2)
}

// A category has no expected value.
func TestCompareWithoutExpectation(t *testing.T) {
	m := compile(t, "    y: {type: category, levels: [a, b, c]}\n", "  formula: y ~ 1 + x\n  family: categorical\n")
	rows := Rows{Data: []float64{0}, N: 1, Stride: 1, Valid: []bool{true}}
	if _, err := Compare(m, listed(make([]float64, 2*m.P), m.P), rows, rows, source{rand.New(rand.NewPCG(1, 2))}, nil); !errors.Is(err, ErrNoContrast) {
		t.Error(err)
	}
}
