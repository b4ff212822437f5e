// Package clipgroups has the parts of a record's gradient that are clipped separately.
package clipgroups

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy/event"
)

// Groups are the separately clipped parts of a record's gradient. Together they have every
// parameter in which a record can have a gradient, and no other.
//
// With shares w_j that add up to 1, group j is clipped to C_j = √w_j·C. So a record moves
// the whole sum by at most √(Σ C_j²) = C in L2 norm, and the noise zC of every number makes
// it one Gaussian of noise multiplier z: that of group j alone is z/√w_j, and z⁻² is the
// sum of w_j/z². McMahan et al. 2018, arXiv:1812.06210, section 3.
//
// A gradient is bounded group by group: one that is not finite in a group counts as zero
// there alone.
type Groups []Group

// Group is one of them.
type Group struct {
	Name   string  `json:"name"`
	Ranges []Range `json:"ranges"` // of θ, rising
	Share  float64 `json:"share"`  // w, in (0, 1]
}

// Range are the parameters From <= i < To.
type Range struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// mostGroups bounds the work of a step, which runs the tape once for each group.
const mostGroups = 256

// Event is the release of one step with noise multiplier sigma, for the accountant: the
// Gaussians of the groups, on one batch.
func (g Groups) Event(sigma float64) event.Event {
	if g == nil {
		return event.Gaussian{NoiseMultiplier: sigma}
	}
	list, sum := make([]event.Event, len(g)), g.shares()
	for j := range g {
		list[j] = event.Gaussian{NoiseMultiplier: sigma / math.Sqrt(g[j].Share/sum)}
	}
	return event.Together(list)
}

// Check finds mistakes of groups for the parameters of a tape.
func (g Groups) Check(t *graph.Tape) error {
	if len(g) > mostGroups {
		return fmt.Errorf("%d groups: at most %d are clipped", len(g), mostGroups)
	}
	sum, in := 0.0, make([]bool, t.P)
	for _, group := range g {
		if !(group.Share > 0 && group.Share <= 1) || len(group.Ranges) == 0 {
			return fmt.Errorf("group %s has the share %v of %d ranges", group.Name, group.Share, len(group.Ranges))
		}
		sum += group.Share
		for _, r := range group.Ranges {
			if r.From < 0 || r.To > t.P || r.From >= r.To || slices.Contains(in[r.From:r.To], true) {
				return fmt.Errorf("group %s has parameters %d to %d, which are in another group, or do not exist", group.Name, r.From, r.To)
			}
			for i := r.From; i < r.To; i++ {
				in[i] = true
			}
		}
	}
	if g != nil && !(math.Abs(sum-1) <= 1e-9) {
		return fmt.Errorf("the shares of all groups add up to %v, not 1", sum)
	}
	for i, moved := range Moved(t) {
		if g != nil && moved && !in[i] {
			return fmt.Errorf("parameter %d is in no group", i)
		}
	}
	return nil
}

// shares is the sum of the shares: 1 up to the digits in the model file.
func (g Groups) shares() (sum float64) {
	for j := range g {
		sum += g[j].Share
	}
	return sum
}

// ClipNorms are the C_j in units of C. Rounding down keeps the sum of their squares at
// most 1, whatever the shares add up to.
func (g Groups) ClipNorms() []float64 {
	sum := g.shares()
	norms := make([]float64, len(g))
	for j := range g {
		norms[j] = math.Sqrt(g[j].Share/sum) * (1 - 0x1p-44)
	}
	return norms
}

// Tapes are the tapes of the groups; without groups, the whole tape.
func (g Groups) Tapes(t *graph.Tape) ([]*graph.Tape, error) {
	if g == nil {
		return []*graph.Tape{t}, nil
	}
	list := make([]*graph.Tape, len(g))
	for j := range g {
		in := make([]bool, t.P)
		for _, r := range g[j].Ranges {
			for i := r.From; i < r.To; i++ {
				in[i] = true
			}
		}
		var err error
		if list[j], err = restrict(t, in); err != nil {
			return nil, fmt.Errorf("group %s: %w", g[j].Name, err)
		}
	}
	return list, nil
}
