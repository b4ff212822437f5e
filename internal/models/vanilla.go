package models

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// VanillaTape compiles the per-record ELBO of a mean-field guide, with guide and
// prior inside the gradient: the parameters are λ = (m, log s), 2P scalars, and
// θ = m + s∘η with η from outside, [P] per record. The loss of a record is
//
//	log p(record | θ) + [ log p(θ) + Σ log s ] / records
//
// without the entropy's constant. Jälkö et al. 2017, arXiv:1610.08749.
func (m *Model) VanillaTape(records float64) (*graph.Tape, error) {
	if !(records > 0 && !math.IsInf(records, 1)) {
		return nil, fmt.Errorf("models: %v records share the prior, want a positive number", records)
	}
	c := newCompiler(m.Spec, m.Core)
	c.coordinates = m.coordinates
	c.dimensions()
	c.parameters()
	g := &build{c: c, b: graph.NewBuilder(), env: c.environment()}
	all := graph.Shape{{Name: "theta", Size: m.P}}
	mean, logSD := g.b.Param("m", all), g.b.Param("log_s", all)
	eta := g.b.Aux("eta", all, true)
	theta := g.b.Add(mean, g.b.Mul(g.b.Exp(logSD), eta))
	g.declare(func(p *Param, free graph.Shape) *graph.Node {
		index := make([]int32, p.Size)
		for i := range index {
			index[i] = int32(p.Offset + i)
		}
		return g.b.Take(theta, free, index)
	})
	share := g.b.Add(g.logPrior(), g.b.Sum(logSD))
	g.loss = g.b.Add(g.unit(m.Encoding), g.b.Mul(share, g.b.Const(1/records)))
	if len(c.errs) > 0 {
		return nil, c.sorted()
	}
	return c.likelihoodTape(g.b, g.loss, m.Encoding.Width())
}
