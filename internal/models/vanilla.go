package models

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// VanillaOptions say how the tape of the vanilla gradient draws θ.
type VanillaOptions struct {
	// SharedTheta uses one draw of θ per step for all records; otherwise every
	// record has its own, as the Python package does.
	SharedTheta bool
	// PriorInside adds to every record's loss its share of log p(θ) - log q(θ).
	PriorInside bool
	// PublicN is the number of records that share it.
	PublicN float64
}

// VanillaTape compiles the per-record ELBO of a mean-field guide, with the
// guide inside the gradient: the parameters are λ = (m, log s), 2P scalars, and
// θ = m + s∘η with η from outside, [P] per step or per record. The loss of a
// record is
//
//	log p(record | θ) + [ log p(θ) + Σ log s ] / PublicN
//
// without the bracket unless PriorInside; the entropy's constant is left out.
// Jälkö et al. 2017, arXiv:1610.08749; dpvi.md, variant (a).
func (m *Model) VanillaTape(o VanillaOptions) (*graph.Tape, error) {
	if o.PriorInside && !(o.PublicN > 0 && !math.IsInf(o.PublicN, 1)) {
		return nil, fmt.Errorf("models: %v records share the prior, want a positive number", o.PublicN)
	}
	c := newCompiler(m.Spec, m.Core)
	c.dimensions()
	c.parameters()
	g := &build{c: c, b: graph.NewBuilder(), env: c.environment()}
	all := graph.Shape{{Name: "theta", Size: m.P}}
	mean, logSD := g.b.Param("m", all), g.b.Param("log_s", all)
	eta := g.b.Aux("eta", all, !o.SharedTheta)
	theta := g.b.Add(mean, g.b.Mul(g.b.Exp(logSD), eta))
	g.declare(func(p *Param, free graph.Shape) *graph.Node {
		index := make([]int32, p.Size)
		for i := range index {
			index[i] = int32(p.Offset + i)
		}
		return g.b.Take(theta, free, index)
	})
	g.loss = g.unit(m.Encoding)
	if o.PriorInside {
		share := g.b.Add(g.logPrior(), g.b.Sum(logSD))
		g.loss = g.b.Add(g.loss, g.b.Mul(share, g.b.Const(1/o.PublicN)))
	}
	if len(c.errs) > 0 {
		return nil, c.sorted()
	}
	return graph.Compile(g.b, g.loss, nil, graph.Options{Columns: m.Encoding.Width()})
}
