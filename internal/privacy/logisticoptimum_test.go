package privacy_test

import (
	"context"
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

// optimumOf is an optimum of y on x, and for more than one coefficient on k.
func optimumOf(objective bool, d int, mean, bound, ridge, sigma float64) privacy.LogisticOptimum {
	products := [][]privacy.Reading{{{Column: "x", Level: privacy.Number, By: 0.5}}, {{Column: "k", Level: privacy.Number, By: 0.2}}}[:d]
	return privacy.LogisticOptimum{Purpose: "fit", Bound: bound, Ridge: ridge, Noise: sigma, Objective: objective,
		Logistic: logisticDraw(products, []float64{mean, 0}[:d], []float64{1, 2}[:d], sigma).Logistic}
}

// A record, whatever it holds, changes the law of the minimum of a perturbed objective by no more
// than the Gaussian in the ledger. The law is exact: the density of b at the gradient, times the
// curvature. Some record reaches nearly all that the proof gives to the tilt.
func TestOneRecordChangesAPerturbedObjectiveByItsPrice(t *testing.T) {
	rng, worst := rand.New(rand.NewPCG(21, 1)), 0.0
	for trial := range 30 {
		mean := []float64{0, -3, -60}[trial%3]
		m := optimumOf(true, 1, mean, math.Exp(rng.NormFloat64()), 1+math.Exp(3*rng.NormFloat64()), 0.8+3*rng.Float64())
		tilt := m.Tilt()
		if tilt > 1e100 {
			continue // the ridge is too small for the budget
		}
		reach := (12*tilt + 8*m.Bound) / m.Ridge
		points := evenGrid(-reach, reach, 40001)
		law := func(text string) []float64 {
			gradient, curvature, err := privacy.LogisticSlopes(columnsOf(t, survey(t, aRow), "id,x,k,g,y\n"+text), m, points)
			if err != nil {
				t.Fatal(err)
			}
			log := make([]float64, len(points))
			for i, g := range gradient {
				log[i] = -g*g/(2*tilt*tilt) + math.Log(curvature[i])
			}
			return normalise(log)
		}
		me := []string{"me,4,0,a,1\n", "me,-4,0,a,1\n", "me,4,9,a,1\n"}[trial%3]
		if trial%2 == 1 {
			me, _, _ = strings.Cut(hostileRows(rng, "me", 1), "\n")
			me += "\n"
		}
		var others strings.Builder
		for i := range rng.IntN(4) {
			others.WriteString(hostileRows(rng, fmt.Sprintf("u%d", i), 1))
		}
		if trial%5 == 4 { // the curvature of one record is most of all
			m = optimumOf(true, 1, 0, 4, 1, 1.5)
			tilt = m.Tilt()
			reach = (12*tilt + 8*m.Bound) / m.Ridge
			points, me = evenGrid(-reach, reach, 400001), "me,4,0,a,1\n"
			others.Reset()
		}
		without, with := law(others.String()), law(others.String()+me)
		for _, epsilon := range []float64{0, 0.1, 0.5, 1, 2} {
			most, bound := max(hockeyStick(with, without, epsilon), hockeyStick(without, with, epsilon)), ofGaussian(1/m.Noise, epsilon)
			if most > bound+2e-6 {
				t.Fatalf("trial %d: delta(%g) is %.6g, the price %.6g", trial, epsilon, most, bound)
			}
			worst = max(worst, most/ofGaussian(m.Bound/tilt, max(0, epsilon-math.Log1p(m.Bound*m.Bound/(4*m.Ridge)))))
		}
	}
	if worst < 0.9 || worst > 1.0001 {
		t.Errorf("records show up to %.3g of what the tilt covers", worst)
	}
}

// A unit, whatever its rows hold, moves the minimum by at most what the noise of the output is
// for.
func TestOneUnitMovesTheOptimumByItsBound(t *testing.T) {
	for name, unit := range map[string]string{"rows": aRow, "units": threeRows} {
		rng, worst := rand.New(rand.NewPCG(22, uint64(len(name)))), 0.0
		for trial := range 150 {
			m := optimumOf(false, 2, []float64{0, -60}[trial%2], math.Exp(rng.NormFloat64()), 1+math.Exp(3*rng.NormFloat64()), 1)
			me := "me,4,0,a,1\nme,4,0,a,1\nme,4,0,a,1\n"
			if trial%3 > 0 {
				me = hostileRows(rng, "me", 1+rng.IntN(4))
			}
			if name == "rows" {
				me, _, _ = strings.Cut(me, "\n")
				me += "\n"
			}
			var others strings.Builder
			for i := range rng.IntN(4) {
				others.WriteString(hostileRows(rng, fmt.Sprintf("u%d", i), 1+rng.IntN(4)))
			}
			var minimum [2][]float64
			for i, text := range []string{others.String(), others.String() + me} {
				x, err := privacy.LogisticMinimum(columnsOf(t, survey(t, unit), "id,x,k,g,y\n"+text), m)
				if err != nil {
					t.Fatal(err)
				}
				minimum[i] = x
			}
			moved := math.Hypot(minimum[0][0]-minimum[1][0], minimum[0][1]-minimum[1][1])
			rows := map[string]int{"rows": 1, "units": 3}[name]
			if bound := m.OutputSD(rows) / m.Noise; moved > bound {
				t.Fatalf("%s, trial %d: the minimum moves by %.12g, the noise is for %.12g", name, trial, moved, bound)
			} else {
				worst = max(worst, moved/bound)
			}
		}
		if worst < 0.9 {
			t.Errorf("%s: no unit moves the minimum by more than %.2g of the bound: the test sees nothing", name, worst)
		}
	}
}

// What is released is the minimum plus noise of the stated size; records of any numbers cause no
// error, and the release is charged first.
func TestPerturbedOptimumIsCharged(t *testing.T) {
	text := "id,x,k,g,y\np,1,0,a,1\nq,-2,3,a,1\nr,1e308,-1e308,a,0\ns,NaN,Inf,a,1\nt,,,a,\n"
	for _, objective := range []bool{false, true} {
		m := optimumOf(objective, 1, 0, 1, 20, 2)
		columns := columnsOf(t, survey(t, aRow), text)
		at, err := privacy.LogisticMinimum(columns, m)
		if err != nil {
			t.Fatal(err)
		}
		var released []float64
		for seed := range uint64(200) {
			c := curatorOf(t, columns, 4, seed+1)
			x, err := c.MinimiseLogistic(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			released = append(released, x[0])
			if entries := c.Ledger().Entries; len(entries) != 1 || entries[0].Event != event.Event(event.Gaussian{NoiseMultiplier: 2}) {
				t.Fatalf("the ledger has %v", entries)
			}
			m.Noise = 0.1
			var over *privacy.BudgetError
			if _, err := c.MinimiseLogistic(context.Background(), m); !errors.As(err, &over) || len(c.Ledger().Entries) != 1 {
				t.Fatalf("beyond the budget: %v", err)
			}
			m.Noise = 2
		}
		// a tilt of b moves the minimum by b over the curvature, λ and .25 of at most four rows
		sd := m.OutputSD(1)
		if objective {
			gradient, curvature, err := privacy.LogisticSlopes(columns, m, at)
			if err != nil || math.Abs(gradient[0]) > 1e-9 {
				t.Fatal(gradient, err)
			}
			sd = m.Tilt() / curvature[0]
		}
		stattest.Require(t, fmt.Sprint("objective ", objective), stattest.KolmogorovSmirnov(released, func(x float64) float64 {
			return math.Erfc(-(x-at[0])/sd/math.Sqrt2) / 2
		}))
	}
	c := surveyor(t, text, noise.Insecure(1), event.AddRemove)
	for _, wrong := range []privacy.LogisticOptimum{
		optimumOf(false, 1, 0, 1, 0.5, 2), optimumOf(false, 1, 0, 0, 20, 2), optimumOf(false, 1, 0, 1, 20, 0), optimumOf(true, 1, 0, 1e6, 1, 2), optimumOf(false, 0, 0, 1, 20, 2),
	} {
		if _, err := c.MinimiseLogistic(context.Background(), wrong); err == nil || len(c.Ledger().Entries) != 0 {
			t.Errorf("%+v: %v, ledger of %d entries", wrong, err, len(c.Ledger().Entries))
		}
	}
}
