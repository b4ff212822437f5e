package start

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/models/naming"
)

// centreThresholds sets the thresholds of an ordinal regression among m0 (P) so that all levels are equally frequent
// where the linear predictor is 0. Ordered numbers that are zero on the unconstrained scale are 0, 1, 2, ...: of nine
// levels the first had half of the records, and the last hardly one, and small fits did not arrive from there.
func centreThresholds(m0 []float64, m *models.Model) {
	for i := range m.Params {
		p := &m.Params[i]
		if m.Spec.Model == nil || p.Name != naming.Thresholds || p.Transform.Name != "ordered" {
			continue
		}
		at := m0[p.Offset : p.Offset+p.Size]
		evenThresholds(at)
		if c := m.Coordinates(); c != nil {
			for j := range at {
				at[j] = (at[j] - c.Origin[p.Offset+j]) / c.Unit[p.Offset+j]
			}
		}
	}
}

// evenThresholds sets dst (K) to the unconstrained numbers of K thresholds, the lowest and logs of the distances, at
// which a logistic variable has each of K + 1 levels with the same probability.
func evenThresholds(dst []float64) {
	last := 0.0
	for k := range dst {
		cut := math.Log(float64(k+1) / float64(len(dst)-k)) // log odds of a level up to k
		dst[k] = cut
		if k > 0 {
			dst[k] = math.Log(cut - last)
		}
		last = cut
	}
}
