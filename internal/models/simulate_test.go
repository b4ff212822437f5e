package models_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
	"d3p/internal/stattest"
)

// TestSimulate draws tables from every example and checks that their values are
// what the declaration allows.
func TestSimulate(t *testing.T) {
	for _, file := range configs(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, err := models.Compile(parseFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			n := 300
			if m.P > manyParameters {
				n = 10 // networks
				if stattest.Race {
					n = 1
				}
			}
			table, theta := simulate.Prior(m, n, testRand{rand.New(rand.NewPCG(7, 8))})
			if len(theta) != m.P {
				t.Fatalf("%d parameters, want %d", len(theta), m.P)
			}
			for i, c := range table.Columns {
				for _, v := range table.Values[i] {
					switch {
					case math.IsNaN(v) && m.Spec.Data.MissingOf(c).Rule == data.MissingModel:
					case math.IsNaN(v):
						t.Fatalf("%s is not a number", c.Name.V)
					case !c.Numeric() && (v < 0 || int(v) >= len(c.Levels) || v != math.Trunc(v)):
						t.Fatalf("%s has level %v", c.Name.V, v)
					}
				}
			}
		})
	}
}

// TestSimulateAt checks the law of a simulated response at given parameters.
func TestSimulateAt(t *testing.T) {
	m := compile(t, dataBlock(0, "g: {type: category, levels: [a, b]}", "d: {type: binary}")+
		"model:\n  formula: d ~ 1 + g\n  family: bernoulli\n")
	const n = 20000
	table := simulate.At(m, []float64{-1, 1.5}, n, m.DeclaredLaw(), testRand{rand.New(rand.NewPCG(9, 10))})
	var ones, all [2]int
	for i, g := range table.Values[0] {
		all[int(g)]++
		ones[int(g)] += int(table.Values[1][i])
	}
	for g, eta := range []float64{-1, 0.5} {
		p := 1 / (1 + math.Exp(-eta))
		stattest.Require(t, table.Columns[0].Levels[g].V, stattest.Binomial(ones[g], all[g], p))
	}
	stattest.Require(t, "levels", stattest.Binomial(all[0], n, 0.5))
}

// Where all records of a law were observed until 2, simulated ones are.
func TestSimulatedTimesEndWithTheirObservation(t *testing.T) {
	m := compile(t, dataBlock(0, "t: {type: real, lower: 1e-6, upper: 4, scale: {center: 0, by: 1}}", "e: {type: binary}", "g: {type: binary}")+
		"model:\n  formula: surv(t, e) ~ 1 + g\n  family: exponential\n")
	l := m.DeclaredLaw()
	l.Column("t").Edges, l.Column("t").Shares = []float64{1.99, 2.01}, []float64{1}
	l.Column("e").Shares = []float64{1, 0}
	const n = 10000
	table := simulate.At(m, []float64{0, 0}, n, l, testRand{rand.New(rand.NewPCG(3, 4))})
	known := 0
	for i, x := range table.Values[0] {
		switch e := table.Values[1][i]; {
		case e == 1:
			known++
		case x < 1.99:
			t.Fatalf("an observation ends at %v", x)
		}
		if x > 2.01 {
			t.Fatalf("a time of %v", x)
		}
	}
	stattest.Require(t, "known times", stattest.Binomial(known, n, 1-math.Exp(-2)))
}

// Simulated times that are censored have the law of their model: the number of events of an
// exponential one is its rate times the time observed, every event has a known time, and at
// the end of the study all times are censored.
func TestSimulatedTimesAreCensored(t *testing.T) {
	m := compile(t, dataBlock(0, "t: {type: real, lower: 1e-6, upper: 4, scale: {center: 0, by: 1}}", "g: {type: category, levels: [a, b]}", "e: {type: binary}")+
		"model:\n  formula: surv(t, e) ~ 1 + g\n  family: exponential\n")
	const n = 20000
	theta := []float64{0, 1}
	table := simulate.At(m, theta, n, m.DeclaredLaw(), testRand{rand.New(rand.NewPCG(3, 4))})
	values := map[string][]float64{}
	for i, c := range table.Columns {
		values[c.Name.V] = table.Values[i]
	}
	var events, time [2]float64
	for i, x := range values["t"] {
		g := int(values["g"][i])
		events[g] += values["e"][i]
		time[g] += x
		if x >= 4 && values["e"][i] == 1 {
			t.Fatalf("an event at the end of the study, %v", x)
		}
	}
	for g, mean := range []float64{1, math.E} { // P(|Z| > 6.11) < 1e-9
		if got := time[g] / events[g]; math.Abs(got/mean-1) > 6.11/math.Sqrt(events[g]) {
			t.Errorf("time per event %v, want %v", got, mean)
		}
	}
}
