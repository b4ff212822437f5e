package sensitivity

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/whiten"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/enginetest"
	"d3p/internal/privacy/noise"
)

// Configs are the model files of a folder, with the public files beside them.
func Configs(tb testing.TB, folder string) []Model {
	tb.Helper()
	var list []Model
	for _, m := range readAll(tb, folder) {
		list = append(list, Model{Name: m.name, Tape: m.Likelihood, Encoding: &m.Encoding, Compiled: m.Model})
	}
	return list
}

// Vanilla are the same with the guide and the prior inside the gradient, its noise of
// every record.
func Vanilla(tb testing.TB, folder string) []Model {
	tb.Helper()
	var list []Model
	for _, m := range readAll(tb, folder) {
		if m.P > largeTape {
			continue
		}
		tape, err := m.VanillaTape(100)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, Model{Name: m.name + ", vanilla", Tape: tape, Encoding: &m.Encoding})
	}
	return list
}

// Rotated are the same in whitened coordinates with columns that are mixed and scaled
// at random, by factors from 10^-3 to 10^3: with the whitened columns stored and computed in
// the step.
func Rotated(tb testing.TB, folder string, rng *rand.Rand) []Model {
	tb.Helper()
	var list []Model
	for _, m := range readAll(tb, folder) {
		c := whiten.Coordinates(m.Model, m.DeclaredLaw(), 0.01, math.Inf(1), noise.NewRandom(noise.Public(rng.Uint64()).Stream(noise.Simulation)))
		if c == nil {
			continue
		}
		for _, p := range c.Predictors {
			for i := range p.Matrix {
				p.Matrix[i] += rng.NormFloat64()
				p.Matrix[i] *= math.Pow(1000, 2*rng.Float64()-1)
			}
			for i := range p.Center {
				p.Center[i] += rng.NormFloat64() * math.Pow(1000, 2*rng.Float64()-1)
			}
		}
		w, err := m.In(c)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, Model{Name: m.name + ", rotated", Tape: w.Likelihood, Encoding: &w.Encoding, Compiled: w}, inStep(tb, m, c))
	}
	return list
}

// inStep is a model whose number of units is too large for derived columns in the table.
func inStep(tb testing.TB, m named, c *models.Coordinates) Model {
	tb.Helper()
	large := *m.Spec
	large.Data.Rows.Public.V, large.Data.Rows.UpperBound.V = 1e8, 1e8
	all, err := models.Compile(&large)
	if err != nil {
		tb.Fatal(err)
	}
	w, err := all.In(c)
	if err != nil {
		tb.Fatal(err)
	}
	if len(w.Likelihood.Derive) > 0 {
		tb.Fatalf("%s: the table of 1e8 units has derived columns", m.name)
	}
	return Model{Name: m.name + ", rotated in the step", Tape: w.Likelihood, Encoding: &w.Encoding}
}

type named struct {
	*models.Model
	name string
}

// readAll compiles the model files of a folder.
func readAll(tb testing.TB, folder string) (list []named) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d model files in %s, %v", len(files), folder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		m, err := models.Read(file, text, func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, path)) })
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, named{m, strings.TrimSuffix(filepath.Base(file), ".yaml")})
	}
	return list
}

// Tapes are the models of the engines' conformance suite, such as shared weights, places of
// images and layers.
func Tapes(tb testing.TB) []Model {
	tb.Helper()
	var list []Model
	for _, m := range enginetest.Models() {
		list = append(list, Model{Name: m.Name, Tape: m.Tape(tb)})
	}
	return list
}

// Grouped are models whose gradients are clipped in groups of random shares. Each parameter
// that a record moves is a group, or belongs to the group before it.
func Grouped(list []Model, rng *rand.Rand) (grouped []Model) {
	for _, m := range list {
		var groups clipgroups.Groups
		total := 0.0
		moved := clipgroups.Moved(m.Tape)
		for _, p := range m.Tape.Params {
			to := p.Offset + p.Shape.Size()
			if !slices.Contains(moved[p.Offset:to], true) {
				continue
			}
			own := clipgroups.Range{From: p.Offset, To: to}
			if last := len(groups) - 1; last > 0 && rng.IntN(3) == 0 {
				groups[last].Ranges = append(groups[last].Ranges, own)
				continue
			}
			share := rng.ExpFloat64()
			total += share
			groups = append(groups, clipgroups.Group{Name: p.Name, Ranges: []clipgroups.Range{own}, Share: share})
		}
		if len(groups) < 2 {
			continue
		}
		for j := range groups {
			groups[j].Share /= total
		}
		m.Name, m.Groups = m.Name+", in groups", groups
		grouped = append(grouped, m)
	}
	return grouped
}
