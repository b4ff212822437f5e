package reference

import "d3p/internal/nuts"

// Sampled holds the draws of the chains, on the unconstrained scale.
type Sampled struct {
	Chains []*nuts.Chain
	Tries  []nuts.Tries // of each
}

// Draws are all kept draws, S·C×P, row-major, chain after chain.
func (s *Sampled) Draws() []float64 {
	var all []float64
	for _, c := range s.Chains {
		all = append(all, c.Draws...)
	}
	return all
}
