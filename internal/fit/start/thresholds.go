package start

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/formula"
	"d3p/internal/models/naming"
)

// centreThresholds sets the thresholds of an ordinal regression among m0 (P) so that all levels are equally frequent
// where the linear predictor is 0. Ordered numbers that are zero on the unconstrained scale are 0, 1, 2, ...: of nine
// levels the first had half of the records, and the last hardly one, and small fits did not arrive from there. In
// whitened coordinates zero is where levels have the shares that were bought.
func centreThresholds(m0 []float64, m *models.Model) {
	for i := range m.Params {
		p := &m.Params[i]
		if m.Rotated() || m.Spec.Model == nil || p.Name != naming.Thresholds || p.Transform.Name != "ordered" {
			continue
		}
		cuts := make([]float64, p.Size)
		formula.Cutpoints(cuts, slices.Repeat([]float64{1}, p.Size+1))
		p.Transform.Inverse(m0[p.Offset:p.Offset+p.Size], cuts)
	}
}
