package privacy_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// surveyDesign has every kind of reading, and a product.
func surveyDesign(bound float64) privacy.Design {
	x := privacy.Reading{Column: "x", Level: privacy.Number, Center: 0.3, By: 1.5}
	k := privacy.Reading{Column: "k", Level: privacy.Number, Transform: "sqrt", By: 0.01}
	b := privacy.Reading{Column: "g", Level: 1, By: 1}
	return privacy.Design{Bound: bound, Noise: 40, Products: [][]privacy.Reading{
		{}, {x}, {k}, {b}, {x, b}, {{Column: "k", Level: privacy.Missing, By: 1}}, {{Column: "y", Level: privacy.Number, By: 1}},
	}}
}

// A unit, whatever its rows hold, moves the very numbers that are summed by at most the
// bound, exactly computed, and a substituted one by at most twice.
func TestOneUnitMovesMomentsByTheBound(t *testing.T) {
	for name, unit := range map[string]string{"rows": aRow, "units": threeRows} {
		rng := rand.New(rand.NewPCG(7, uint64(len(name))))
		e, most := survey(t, unit), 0.0
		for trial := range 150 {
			d := surveyDesign(math.Exp(6 * rng.NormFloat64()))
			if trial%2 == 1 {
				for range 1 + rng.IntN(4) {
					weights := make([]float64, len(d.Products))
					for j := range weights {
						weights[j] = math.Exp(3*rng.NormFloat64()) * rng.NormFloat64()
					}
					d.Map = append(d.Map, weights)
				}
			}
			var others strings.Builder
			for i := range rng.IntN(4) {
				others.WriteString(hostileRows(rng, fmt.Sprintf("u%d", i), 1+rng.IntN(4)))
			}
			var sums [2][]float64
			for i, text := range []string{"", hostileRows(rng, "me", map[string]int{"rows": 1, "units": 1 + rng.IntN(6)}[name])} {
				sum, err := privacy.MomentsExactly(columnsOf(t, e, "id,x,k,g,y\n"+placed(trial, others.String(), text)), d)
				if err != nil {
					t.Fatalf("%s, trial %d: %v", name, trial, err)
				}
				sums[i] = sum
			}
			squares := int64(0)
			for i := range sums[0] {
				q := (sums[1][i] - sums[0][i]) * (1 << 20)
				if q != math.Trunc(q) {
					t.Fatalf("%s: a unit adds %g, no multiple of 2^-20", name, q)
				}
				squares += int64(q) * int64(q)
			}
			if squares > 1<<40 {
				t.Fatalf("%s, trial %d: a unit adds %.12g times the bound", name, trial, math.Sqrt(float64(squares))/(1<<20))
			}
			most = max(most, math.Sqrt(float64(squares))/(1<<20))
		}
		if most < 1-1e-5 {
			t.Errorf("%s: no unit reaches the bound: %g", name, most)
		}
	}
	for _, rel := range event.Relations() {
		c := surveyor(t, "id,x,k,g,y\n", noise.Insecure(1), rel)
		if _, err := c.Moments("table 1", surveyDesign(1)); err != nil {
			t.Fatal(err)
		}
		if got := c.Ledger().Entries[0].Event.(event.Gaussian).NoiseMultiplier; got != 40 {
			t.Errorf("%s: noise multiplier %g, want 40: the accountant charges twice the bound under substitution", rel, got)
		}
	}
}

// The moments are those of the usable rows, and all that a person would compute.
func TestMomentsAreThoseOfTheFile(t *testing.T) {
	text := "id,x,k,g,y\n" + "p,-5,0,a,1\n" + "p,-4,1,b,0\n" + "q,1,1,a,1\n" + "q,0,,c,1\n" + "q,3,2,d,1\n" + "q,,2,a,\n"
	rows := [][7]float64{
		{1, (-4 - 0.3) / 1.5, 100, 1, (-4 - 0.3) / 1.5, 0, 0},
		{1, -0.3 / 1.5, math.Sqrt2 * 100, 0, 0, 1, 1}, // 2 is imputed
		{1, 0.7 / 1.5, 100, 0, 0, 0, 1},
	}
	for name, c := range map[string]struct {
		unit  string
		units [][]int // rows of each
		bound float64
	}{
		"rows":    {aRow, [][]int{{0}, {1}, {2}}, 1e5},
		"units":   {threeRows, [][]int{{0}, {1, 2}}, 1e5},
		"clipped": {aRow, [][]int{{0}, {1}, {2}}, 300},
	} {
		got, err := privacy.MomentsExactly(columnsOf(t, survey(t, c.unit), text), surveyDesign(c.bound))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(got))
		for _, unit := range c.units {
			v, at, norm := make([]float64, len(got)), 0, 0.0
			for i := range 7 {
				for j := i; j < 7; j++ {
					for _, r := range unit {
						v[at] += rows[r][i] * rows[r][j]
					}
					norm += v[at] * v[at]
					at++
				}
			}
			for i := range v {
				want[i] += v[i] / max(c.bound, math.Sqrt(norm))
			}
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 3e-6 { // three units of rounding and of shortening
				t.Errorf("%s: moment %d is %g, want %g", name, i, got[i], want[i])
			}
		}
	}
}

// A map takes the products of a row to its numbers.
func TestMomentsOfMappedNumbers(t *testing.T) {
	e, text := survey(t, aRow), "id,x,k,g,y\np,-4,1,b,0\nq,0,4,b,1\nr,1,1,a,1\n"
	d := surveyDesign(1e5)
	plain, err := privacy.MomentsExactly(columnsOf(t, e, text), d)
	if err != nil {
		t.Fatal(err)
	}
	d.Map = [][]float64{{0, 2, 0, 0, 0, 0, 0}, {3, 0, 0, 1, 0, 0, 0}}
	got, err := privacy.MomentsExactly(columnsOf(t, e, text), d)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i, j int) float64 { return plain[i*(2*7-i-1)/2+j] }
	want := []float64{4 * at(1, 1), 6*at(0, 1) + 2*at(1, 3), 9*at(0, 0) + 6*at(0, 3) + at(3, 3)}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 2e-5 { // rounding, times the weights
			t.Errorf("moment %d is %g, want %g", i, got[i], want[i])
		}
	}
}

// Moments without noise are the sums themselves, and end every claim.
func TestNonPrivateMoments(t *testing.T) {
	root, err := noise.System()
	if err != nil {
		t.Fatal(err)
	}
	text := "id,x,k,g,y\np,-4,1,b,0\nq,0,4,b,1\nr,1,1,a,1\n"
	want, err := privacy.MomentsExactly(columnsOf(t, survey(t, aRow), text), surveyDesign(1e5))
	if err != nil {
		t.Fatal(err)
	}
	c := surveyor(t, text, root, event.AddRemove)
	if c.Ledger().NotPrivate != "" {
		t.Fatal(c.Ledger())
	}
	got, err := c.NonPrivateMoments(surveyDesign(1e5))
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for i := range want {
		if got[i] != 1e5*want[i] {
			t.Errorf("moment %d is %g, want %g", i, got[i], 1e5*want[i])
		}
	}
	if l := c.Ledger(); l.NotPrivate == "" || len(l.Entries) != 0 {
		t.Errorf("ledger %+v", l)
	}
}

// The noise is normal, of the deviation that was charged.
func TestMomentsNoise(t *testing.T) {
	d := surveyDesign(250)
	d.Products = nil
	const numbers = 200 // enough to find noise that is a tenth too small
	for range numbers {
		d.Products = append(d.Products, []privacy.Reading{})
	}
	c := surveyor(t, "id,x,k,g,y\n", noise.Insecure(9), event.AddRemove)
	got, err := c.Moments("table 1", d)
	if err != nil || len(got) != numbers*(numbers+1)/2 {
		t.Fatal(len(got), err)
	}
	for i := range got {
		got[i] /= 40 * 250
	}
	stattest.Require(t, "normal", stattest.KolmogorovSmirnov(got, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }))
	if e := c.Ledger().Entries; len(e) != 1 || e[0].Purpose != "table 1" {
		t.Errorf("entries %+v", e)
	}
}

// An invalid design is refused before anything is charged.
func TestDesignsAreRefused(t *testing.T) {
	c := surveyor(t, "id,x,k,g,y\n", noise.Insecure(9), event.AddRemove)
	one := func(r privacy.Reading) func(*privacy.Design) {
		return func(d *privacy.Design) { d.Products = append(d.Products, []privacy.Reading{r}) }
	}
	for name, change := range map[string]func(*privacy.Design){
		"nothing":   func(d *privacy.Design) { d.Products = nil },
		"no noise":  func(d *privacy.Design) { d.Noise = 0 },
		"NaN noise": func(d *privacy.Design) { d.Noise = math.NaN() },
		"no bound":  func(d *privacy.Design) { d.Bound = 0 },
		"endless":   func(d *privacy.Design) { d.Bound = math.Inf(1) },
		"NaN bound": func(d *privacy.Design) { d.Bound = math.NaN() },
		"column":    one(privacy.Reading{Column: "id", By: 1}),
		"level":     one(privacy.Reading{Column: "g", Level: 3, By: 1}),
		"by zero":   one(privacy.Reading{Column: "x", Level: privacy.Number}),
		"by NaN":    one(privacy.Reading{Column: "x", Level: privacy.Number, By: math.NaN()}),
		"center":    one(privacy.Reading{Column: "x", Level: privacy.Number, By: 1, Center: math.Inf(1)}),
		"map":       func(d *privacy.Design) { d.Map = [][]float64{{1}} },
		"NaN map":   func(d *privacy.Design) { d.Map = [][]float64{{1, 0, 0, 0, 0, 0, math.NaN()}} },
		"of number": one(privacy.Reading{Column: "x", Level: 0, By: 1}),
	} {
		d := surveyDesign(1)
		change(&d)
		if _, err := c.Moments("table 1", d); err == nil || errors.As(err, new(*privacy.BudgetError)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if len(c.Ledger().Entries) > 0 {
		t.Error("what was refused is in the ledger")
	}
}
