package table1

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/privacy/event"
)

// Each limit of a mean, a standard deviation and a quartile holds in 95 of 100 purchases, wherever
// records lie between the bounds, and NoiseSD is at least the root mean square error. If that is so,
// fewer than 15 of 20 hold by chance in 1 of 3000 checks, so these 120 fail in one of 25 runs with other
// seeds.
func TestLimitsHold(t *testing.T) {
	const epsilon, seeds = 1, 20
	mixed := func(share float64, a, b func(r *rand.Rand) float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			if r.Float64() < share {
				return a(r)
			}
			return b(r)
		}
	}
	at := func(x float64) func(r *rand.Rand) float64 { return func(*rand.Rand) float64 { return x } }
	normal := func(mean, sd float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return mean + sd*r.NormFloat64() }
	}
	visits := func(r *rand.Rand) float64 { return poisson(r, 4) }
	for _, c := range []struct {
		name, kind   string
		n            int
		lower, upper float64
		draw         func(r *rand.Rand) float64
	}{
		{"few far out", "integer", 4000, 0, 80, mixed(0.6, at(0), mixed(0.975, visits, func(r *rand.Rand) float64 { return 40 + math.Floor(40*r.Float64()) }))},
		{"few far out of many", "integer", 50000, 0, 80, mixed(0.6, at(0), mixed(0.975, visits, func(r *rand.Rand) float64 { return 40 + math.Floor(40*r.Float64()) }))},
		{"two places of few", "integer", 1000, 0, 60, mixed(0.1, at(50), at(2))},
		{"a code", "integer", 4000, 0, 999, mixed(0.02, at(999), func(r *rand.Rand) float64 { return math.Round(70 + 12*r.NormFloat64()) })},
		{"diabetics", "real", 4000, 2, 30, mixed(0.08, normal(12, 3), normal(5.3, 0.6))},
		{"skewed far from a bound", "real", 4000, 10, 80, func(r *rand.Rand) float64 { return 20 + 7*math.Exp(r.NormFloat64()/2) }},
		{"a pile at the bound", "real", 4000, 0, 100, normal(-5, 15)},
		{"incomes of few", "real", 300, 0, 1e6, func(r *rand.Rand) float64 { return math.Exp(10.5 + 0.7*r.NormFloat64()) }},
		{"two humps", "real", 1000, 0, 200, mixed(0.4, normal(130, 15), normal(60, 10))},
		{"near the upper bound", "real", 4000, 0, 1, func(r *rand.Rand) float64 { return math.Pow(r.Float64(), 1./9) }},
		{"few ones", "integer", 4000, 0, 10, mixed(0.01, at(1), at(0))},
		{"ages", "integer", 4000, 0, 100, normal(54, 9)},
	} {
		m := oneColumn(t, c.n, c.kind, c.lower, c.upper)
		path, mean, sd := tailTable(t, c.n, func(r *rand.Rand) float64 {
			x := min(max(c.draw(r), c.lower), c.upper)
			if c.kind == "integer" {
				x = math.Round(x)
			}
			return x
		})
		held, errors := map[Statistic][2]int{}, map[Statistic][2]float64{}
		x := firstColumn(t, path)
		truth := map[Statistic]float64{Mean: mean, SD: sd, Quartile1: x[c.n/4], Median: x[c.n/2], Quartile3: x[c.n*3/4]}
		for seed := range uint64(seeds) {
			l, _ := buy(t, m, path, epsilon, Auto(m, muOf(epsilon, event.AddRemove), c.n, event.AddRemove), seed, event.AddRemove)
			for _, row := range Rows(l, &m.Spec.Data) {
				want, told := truth[row.Statistic]
				if row.Column != "x" || !told {
					continue
				}
				h, e := held[row.Statistic], errors[row.Statistic]
				if *row.Low <= want {
					h[0]++
				}
				if want <= *row.High {
					h[1]++
				}
				e[0], e[1] = e[0]+math.Pow(row.Value-want, 2), e[1]+row.NoiseSD*row.NoiseSD
				held[row.Statistic], errors[row.Statistic] = h, e
			}
		}
		for statistic, h := range held {
			off := math.Sqrt(errors[statistic][0] / max(errors[statistic][1], 1e-300))
			t.Logf("%s, %s: of %d purchases the limits hold in %d; error %.2f times NoiseSD", c.name, statistic, seeds, h, off)
			if h[0] < 15 || h[1] < 15 || off > 1.3 {
				t.Errorf("%s, %s: of %d purchases the limits hold in %d; error %.2f times NoiseSD", c.name, statistic, seeds, h, off)
			}
		}
	}
}

// firstColumn are the numbers of the first column of a file, in ascending order.
func firstColumn(t *testing.T, path string) (x []float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		number, _, _ := strings.Cut(line, ",")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, v)
	}
	slices.Sort(x)
	return x
}
