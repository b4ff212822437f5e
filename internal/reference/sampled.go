package reference

import (
	"d3p/internal/models"
	"d3p/internal/nuts"
)

// Sampled is what the chains drew, on the unconstrained scale.
type Sampled struct {
	P      int
	Chains []*nuts.Chain
}

// Draws are all kept draws, S·C×P, row-major, chain after chain.
func (s *Sampled) Draws() []float64 {
	var all []float64
	for _, c := range s.Chains {
		all = append(all, c.Draws...)
	}
	return all
}

// Divergences counts transitions of all chains whose trajectory diverged.
func (s *Sampled) Divergences() int {
	n := 0
	for _, c := range s.Chains {
		n += c.Divergences
	}
	return n
}

// Diagnose returns a diagnosis for every constrained value of m, in the order of
// m.Names.
func (s *Sampled) Diagnose(m *models.Model) []nuts.Diagnosis {
	values := make([][][]float64, m.Constrained) // value, chain, draw
	for i := range values {
		values[i] = make([][]float64, len(s.Chains))
	}
	point := make([]float64, m.Constrained)
	for c, chain := range s.Chains {
		for from := 0; from < len(chain.Draws); from += s.P {
			m.Constrain(point, chain.Draws[from:from+s.P])
			for i, x := range point {
				values[i][c] = append(values[i][c], x)
			}
		}
	}
	out := make([]nuts.Diagnosis, len(values))
	for i := range out {
		out[i] = nuts.Diagnose(values[i])
	}
	return out
}
