package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// interceptTape is logisticTape with an intercept.
func interceptTape(t *testing.T) *graph.Tape {
	t.Helper()
	b := graph.NewBuilder()
	d := graph.Dim{Name: "d", Size: 2}
	eta := b.Add(b.Param("a", nil), b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d})))
	tape, err := graph.Compile(b, b.Sub(b.Mul(b.Column(2), eta), b.Softplus(eta)), nil, graph.Options{GradientOnly: true, Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// Each group of each record's gradient is clipped to √w·C by itself, against the gradients
// of a machine that runs the whole tape.
func TestGroupsAreClippedAlone(t *testing.T) {
	tape := interceptTape(t)
	groups := clipgroups.Groups{
		{Name: "a", Ranges: []clipgroups.Range{{From: 0, To: 1}}, Share: 0.2},
		{Name: "w", Ranges: []clipgroups.Range{{From: 1, To: 3}}, Share: 0.8},
	}
	rng := rand.New(rand.NewPCG(3, 1))
	const n = 40
	rows := privacy.NewRows(privacy.Float64, n, 3, tape.K)
	records := make([]float64, 3*n)
	for i := range records {
		records[i] = 3 * rng.NormFloat64()
	}
	for i := range n {
		rows.Set(i, 0, records[3*i:][:3])
	}
	if err := privacy.DeriveColumns(tape, rows, 3); err != nil {
		t.Fatal(err)
	}
	worker, err := privacy.OpenGroups(cpu.New(cpu.Options{Threads: 1}), groups, tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	theta := []float64{0.3, -0.5, 0.7}
	machine := graph.NewMachine(tape, n)
	machine.Globals(theta, nil)
	machine.Records(records, 3, n, nil)
	for _, clip := range []privacy.Clip{{Kind: privacy.Flat, Norm: 0.7}, {Kind: privacy.Flat, Norm: 1e6}, {Kind: privacy.Automatic, Norm: 2, Gamma: 0.01}} {
		want, g := make([]float64, 3), make([]float64, 3)
		for i := range n {
			machine.Gradient(i, g)
			for _, group := range groups {
				own := clip
				own.Norm *= math.Sqrt(group.Share)
				part := g[group.Ranges[0].From:group.Ranges[0].To]
				norm := 0.0
				for _, x := range part {
					norm = math.Hypot(norm, x)
				}
				for k, x := range part {
					want[group.Ranges[0].From+k] += own.Factor(norm) * x
				}
			}
		}
		got := []float64{9, 9, 9} // what it had counts for nothing
		if _, err := worker.ClippedSum(got, privacy.StepInput{Params: theta}, nil, true, clip); err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-11*float64(n) {
				t.Errorf("%+v: sum %v, want %v", clip, got, want)
				break
			}
		}
	}
}

// A step with groups costs what one Gaussian of the equivalent noise multiplier costs, and
// the ledger has the Gaussian of every group.
func TestGroupsCostOneGaussian(t *testing.T) {
	groups := clipgroups.Groups{
		{Name: "a", Ranges: []clipgroups.Range{{From: 0, To: 1}}, Share: 0.2},
		{Name: "w", Ranges: []clipgroups.Range{{From: 1, To: 3}}, Share: 0.8},
	}
	m := poissonMechanism(t, 30)
	m.Tape, m.CountNoise, m.Groups = interceptTape(t), 0, groups
	alone := m
	alone.Groups = nil
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute} {
		got, err := accountant.Epsilon(m.Event(30), rel, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		want, err := accountant.Epsilon(alone.Event(30), rel, 1e-5)
		if err != nil || math.Abs(got.Upper-want.Upper) > 1e-9*want.Upper {
			t.Errorf("%s: epsilon %v, of one Gaussian %v (%v)", rel, got.Upper, want.Upper, err)
		}
	}
	one := groups.Event(m.GradientNoise).(event.Composed).Events
	for j, g := range groups {
		if want := m.GradientNoise / math.Sqrt(g.Share); one[j] != (event.Gaussian{NoiseMultiplier: want}) {
			t.Errorf("group %s: %v, want the noise multiplier %v", g.Name, one[j], want)
		}
	}

	engine := &fakeEngine{sum: []float64{0.5, -0.25, 0.125}, count: 1.5}
	c := newCurator(t, config(t, engine))
	s := begin(t, c, m)
	dst := make([]float64, 3)
	if _, err := s.Step(dst, privacy.StepRequest{Params: make([]float64, 3), ClipNorm: 2}); err != nil {
		t.Fatal(err)
	}
	if want := noisy(noise.GradientNoise, 0, m.GradientNoise*2*(1+privacy.RoundingAllowance(m.BatchBound, 3)), 0.5, -0.25, 0.125); !cmp.Equal(dst, want) {
		t.Errorf("sum %g, want %g: the noise is that of the whole C", dst, want)
	}
	squares := 0.0
	for _, clip := range engine.clips {
		squares += clip.Norm * clip.Norm
	}
	if len(engine.clips) != 2 || squares > 4 || squares < 4*(1-1e-12) {
		t.Errorf("clipped to %v, want norms whose squares add up to at most 4", engine.clips)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !event.Equal(c.Ledger().Event(), m.Event(1)) || engine.closed != 2 {
		t.Errorf("ledger %v, %d workers closed", c.Ledger().Event(), engine.closed)
	}
}

func TestGroupsAreRefused(t *testing.T) {
	rg := func(from, to int) []clipgroups.Range { return []clipgroups.Range{{From: from, To: to}} }
	for name, groups := range map[string]clipgroups.Groups{
		"shares above 1":      {{Name: "a", Ranges: rg(0, 1), Share: 0.5}, {Name: "w", Ranges: rg(1, 3), Share: 0.6}},
		"shares below 1":      {{Name: "a", Ranges: rg(0, 1), Share: 0.5}, {Name: "w", Ranges: rg(1, 3), Share: 0.4}},
		"no share":            {{Name: "a", Ranges: rg(0, 1)}, {Name: "w", Ranges: rg(1, 3), Share: 1}},
		"in two groups":       {{Name: "a", Ranges: rg(0, 2), Share: 0.5}, {Name: "w", Ranges: rg(1, 3), Share: 0.5}},
		"in no group":         {{Name: "w", Ranges: rg(1, 3), Share: 1}},
		"outside":             {{Name: "a", Ranges: rg(0, 1), Share: 0.5}, {Name: "w", Ranges: rg(1, 4), Share: 0.5}},
		"a gradient in parts": {{Name: "a", Ranges: rg(0, 2), Share: 0.5}, {Name: "w", Ranges: rg(2, 3), Share: 0.5}},
		"none":                {},
	} {
		m := poissonMechanism(t, 1)
		m.Tape, m.CountNoise, m.Groups = interceptTape(t), 0, groups
		if _, err := newCurator(t, config(t, &fakeEngine{sum: make([]float64, 3)})).Begin(m); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	m := poissonMechanism(t, 1)
	m.Groups = clipgroups.Groups{{Name: "w", Ranges: rg(0, 2), Share: 1}}
	m.CountNoise, m.CountTarget = 40, 0.5
	if _, err := newCurator(t, config(t, &fakeEngine{sum: make([]float64, 2)})).Begin(m); err == nil {
		t.Error("a count was released beside groups")
	}
}
