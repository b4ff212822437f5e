package start

import "d3p/internal/models"

// initialiseWeights sets the network weights in m0 (P) to draws from their initialiser.
func initialiseWeights(m0 []float64, m *models.Model, rng Random) {
	for i := range m.Params {
		p := &m.Params[i]
		if !p.Weight {
			continue
		}
		w := m0[p.Offset : p.Offset+p.Size]
		rng.Normals(w)
		for j := range w {
			w[j] = p.StartMean + p.StartSD*w[j]
		}
	}
}
