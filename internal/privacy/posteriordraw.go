package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"d3p/internal/atomicfile"
	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/nuts"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// PosteriorDraw is the release of one draw of the generalised posterior
//
//	p(θ) ∝ prior(θ) · exp(w Σ score(record | θ)),
//
// where the score of a unit stays within an interval of length R: the exponential
// mechanism. The factors by which two units multiply the density, before normalisation,
// have a ratio of at most exp(wR). So with w = ε/R the draw is (ε, 0)-differentially
// private if a unit comes or goes, and with half of that w if one unit replaces another.
// The guarantee holds for an exact draw; this one is the last of a chain of the No-U-Turn
// sampler. McSherry and Talwar 2007; Jewson, Ghalebikesabi and Holmes 2023,
// arXiv:2307.05194.
type PosteriorDraw struct {
	Purpose string
	Model   *models.Model
	Epsilon float64
	Range   float64 // R of a unit, see models.Model.ScoreRange
	// Chains are run for the diagnosis; the draw is of the first. Each has Warmup and
	// Kept transitions.
	Chains, Warmup, Kept int
	Progress             func(done int) // transitions, after each chain; may be nil
}

// Event is the event of the draw.
func (m PosteriorDraw) Event() event.Event { return event.EpsilonDelta{Epsilon: m.Epsilon} }

// Weight is w under a relation. It leaves a millionth of the range to the rounding of
// scores, and what rounding may change in two sums of N scores: the sum of N numbers of at most R,
// in any order, is off by at most N²·R·2^-53.
func (m PosteriorDraw) Weight(rel event.Relation) float64 {
	rows := float64(m.Model.Spec.Data.Rows.N())
	w := m.Epsilon / (m.Range * (1 + 1e-6 + rows*rows*0x1p-52))
	if rel == event.Substitute {
		return w / 2
	}
	return w
}

// SamplerCheckName is the private file with the diagnosis of the chains. It is of the
// records, and not protected.
const SamplerCheckName = "sampler.json"

// samplerCheck states the agreement of the chains about each unconstrained scalar.
type samplerCheck struct {
	Weight      float64       `json:"weight"`
	Divergences int           `json:"divergences"`
	Scalars     []scalarCheck `json:"scalars"` // P
}

// scalarCheck is a nuts.Diagnosis. Its fields are null for chains that do not move, which
// have no diagnosis: an error would reveal facts about the records.
type scalarCheck struct {
	RHat    *float64 `json:"rhat"`
	BulkESS *float64 `json:"ess_bulk"`
	TailESS *float64 `json:"ess_tail"`
}

func checked(d nuts.Diagnosis) scalarCheck {
	finite := func(x float64) *float64 {
		if x-x != 0 {
			return nil
		}
		return &x
	}
	return scalarCheck{finite(d.RHat), finite(d.BulkESS), finite(d.TailESS)}
}

// DrawPosterior charges the draw and makes it: P unconstrained scalars. Over budget it
// returns *BudgetError and spends nothing.
func (c *Curator) DrawPosterior(ctx context.Context, m PosteriorDraw) ([]float64, error) {
	switch {
	case c.table == nil:
		return nil, errors.New("privacy: the curator has no table (encode one first)")
	case c.ranks != nil && c.ranks.Size() > 1:
		return nil, errors.New("privacy: a draw of the posterior is made in one process (type the command without mpirun)")
	case !(m.Range > 0) || !(m.Epsilon > 0):
		return nil, fmt.Errorf("privacy: a draw at epsilon %g with scores in a range of %g: both must be positive", m.Epsilon, m.Range)
	}
	stream, err := c.charge(m.Purpose, m.Event())
	if err != nil {
		return nil, err
	}
	target, end, err := c.target(m)
	if err != nil {
		return nil, err
	}
	draw, check, err := target.draw(ctx, m, noise.NewRandom(stream))
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	if c.private != nil {
		check.Weight = target.weight
		err = atomicfile.WriteIn(c.private, SamplerCheckName, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(check) })
	}
	return draw, err
}

// posteriorTarget is the log density of a PosteriorDraw.
type posteriorTarget struct {
	worker       Worker
	prior        *graph.Machine
	weight       float64
	params, sums []float64 // of models.DensityTape: θ and two more
}

// target opens the engine for the density of a draw; end closes it.
func (c *Curator) target(m PosteriorDraw) (t *posteriorTarget, end func() error, err error) {
	tape, err := m.Model.DensityTape()
	if err != nil {
		return nil, nil, err
	}
	if err := c.table.begin(tape); err != nil {
		return nil, nil, err
	}
	worker, err := c.engine.Open(tape, c.rows)
	if err != nil {
		c.table.end()
		return nil, nil, err
	}
	return &posteriorTarget{
			worker: worker, prior: graph.NewMachine(m.Model.Prior, 1), weight: m.Weight(c.relation),
			params: make([]float64, tape.P), sums: make([]float64, tape.P),
		}, func() error {
			c.table.end()
			return worker.Close()
		}, nil
}

// density implements nuts.Density. The score of a record without a finite gradient counts
// as 0, which lies in its range.
func (t *posteriorTarget) density(gradient, theta []float64) (float64, error) {
	p := len(theta)
	copy(t.params, theta)
	t.params[p] = 1
	if _, err := t.worker.ClippedSum(t.sums, StepInput{Params: t.params}, nil, true, Clip{Kind: Unclipped, Norm: math.MaxFloat64}); err != nil {
		return 0, err
	}
	t.prior.Globals(theta, nil)
	t.prior.GlobalGradient(gradient)
	for j := range gradient {
		gradient[j] += t.weight * t.sums[j]
	}
	return t.prior.Loss()[0] + t.weight*t.sums[p], nil
}

// draw runs the chains one after the other.
func (t *posteriorTarget) draw(ctx context.Context, m PosteriorDraw, rng *noise.Random) ([]float64, samplerCheck, error) {
	var check samplerCheck
	p := m.Model.P
	chains := make([]*nuts.Chain, m.Chains)
	for i := range chains {
		o := nuts.Options{Warmup: m.Warmup, Draws: m.Kept, Dense: p <= nuts.DenseMost}
		chain, err := nuts.SampleNear(ctx, t.density, p, func(start []float64) { m.Model.NearStarts(start, rng) }, o, rng)
		if err != nil {
			return nil, check, err
		}
		chains[i] = chain
		check.Divergences += chain.Divergences
		if m.Progress != nil { // within a chain the records decide which transitions it skips
			m.Progress((i + 1) * (m.Warmup + m.Kept))
		}
	}
	for j := range p {
		draws := make([][]float64, m.Chains)
		for i, chain := range chains {
			for k := j; k < len(chain.Draws); k += p {
				draws[i] = append(draws[i], chain.Draws[k])
			}
		}
		check.Scalars = append(check.Scalars, checked(nuts.Diagnose(draws)))
	}
	first := chains[0].Draws
	return first[len(first)-p:], check, nil
}
