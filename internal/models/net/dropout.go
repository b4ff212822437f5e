package net

import (
	"d3p/internal/models/graph"
	"d3p/internal/models/special"
)

// dropout sets every value to 0 with probability rate and divides the others by 1 − rate;
// in predictions it changes nothing. It keeps a value if standard normal noise exceeds its
// quantile Φ⁻¹(rate). The noise is new for every record and step, so the gradient of a
// record depends on no other record. Srivastava et al. 2014.
func dropout(p *plan, l *Layer) step {
	shape, name := p.shape, p.layer.Name
	quantile := special.NormalQuantile(l.Rate.V)
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		if c.Noise == nil || l.Rate.V == 0 {
			return x
		}
		kept := b.Less(b.Const(quantile), c.Noise(name, x, shape))
		return b.Mul(x, b.Mul(kept, b.Const(1/(1-l.Rate.V))))
	}
}
