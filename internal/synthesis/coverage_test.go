package synthesis_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/privacy/event"
	"d3p/internal/stats"
	"d3p/internal/synthesis"
)

// estimates are what an analyst computes from a table: the share of the ill, the mean
// age, the slope of illness on age, and the median age, whose error is that of a uniform
// age.
func estimates(x [][]float64) (list [4]stats.Estimate) {
	age, ill := x[0], x[3]
	n := float64(len(age))
	mean := func(v []float64) stats.Estimate {
		sum, squares := 0.0, 0.0
		for _, a := range v {
			sum += a
			squares += a * a
		}
		m := sum / n
		return stats.Estimate{Value: m, Error: math.Sqrt((squares/n - m*m) / n)}
	}
	list[0], list[1] = mean(ill), mean(age)
	xy, xx := 0.0, 0.0
	for i := range age {
		xy += (age[i] - list[1].Value) * (ill[i] - list[0].Value)
		xx += (age[i] - list[1].Value) * (age[i] - list[1].Value)
	}
	slope, rest := xy/xx, 0.0
	for i := range age {
		e := ill[i] - list[0].Value - slope*(age[i]-list[1].Value)
		rest += e * e
	}
	list[2] = stats.Estimate{Value: slope, Error: math.Sqrt(rest / n / xx)}
	sorted := slices.Sorted(slices.Values(age))
	list[3] = stats.Estimate{Value: sorted[len(sorted)/2], Error: 91 / (2 * math.Sqrt(n))}
	return list
}

// Intervals of 90 % from separate tables hold the truth of the population, to within
// what 24 repetitions tell.
func TestSeparateTablesCover(t *testing.T) {
	if testing.Short() {
		t.Skip("repeats fits")
	}
	m := read(t, model)
	const repetitions, tables, n = 24, 20, 2000
	truth := [4]float64{0.45, 45, 0.01, 45}
	var held [4]int
	for k := range repetitions {
		table, _ := learn(t, m, people(n, public(uint64(1000+k))), event.AddRemove, 8, uint64(2000+k))
		d, err := synthesis.NewDrawer(table, m, true, 2)
		if err != nil {
			t.Fatal(err)
		}
		random := public(uint64(3000 + k))
		var of [4][]stats.Estimate
		for range tables {
			d.Perturb(random)
			for i, e := range estimates(fill(t, m, d, n, true, random)) {
				of[i] = append(of[i], e)
			}
		}
		d.Close()
		for i := range of {
			c := stats.CombineSynthetic(of[i], 1)
			half := c.Error * distuv.StudentsT{Sigma: 1, Nu: c.DF}.Quantile(0.95)
			if math.Abs(c.Value-truth[i]) <= half {
				held[i]++
			}
		}
	}
	// Of 24 intervals of 90 %, fewer than 15 hold with probability 1e-5.
	for i, name := range []string{"share", "mean", "slope", "median"} {
		t.Logf("%s: %d of %d", name, held[i], repetitions)
		if held[i] < 15 {
			t.Errorf("%s: %d of %d intervals hold", name, held[i], repetitions)
		}
	}
}
