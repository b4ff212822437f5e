package fit

import "d3p/internal/models/graph"

// samplingRatio (P) is what the sampling of records adds to the variance of a
// released gradient, over its information: E[clip(g)²]/E[clip(g)·s], of gradients g
// at the parameters at and scores s at truth, over records invented there. A score
// that is not clipped has 1, since its variance is its information. Clipped ones
// have less: where nearly all are, only their directions are left to vary. That is
// the middle of the sandwich H⁻¹JH⁻¹, the variance of an estimate that solves
// Σ clip(g) = 0 (Huber 1967). 1 where no invented record says.
func (l *Loop) samplingRatio(truth, at []float64) []float64 {
	p, clipNorm, count := l.plan.Latent, l.clipNorm(), 0.0
	sum, square, cross := make([]float64, p), make([]float64, p), make([]float64, p)
	l.eachInvented(truth, at, patternRecords, func(g, score []float64) {
		count++
		factor := clipFactor(g, clipNorm)
		for j, x := range g {
			sum[j] += factor * x
			square[j] += factor * x * factor * x
			cross[j] += factor * x * score[j]
		}
	})
	ratio := make([]float64, p)
	for j := range ratio {
		ratio[j] = 1
		if variance := square[j] - sum[j]*sum[j]/count; variance > 0 && cross[j] > 0 {
			ratio[j] = variance / cross[j]
		}
	}
	return ratio
}

// eachInvented calls use with the gradients at the parameters at, and the scores at
// truth, both (P), of so many records that the model invents at truth, always the
// same ones. Records for which one of them is not finite are left out.
func (l *Loop) eachInvented(truth, at []float64, records int, use func(g, score []float64)) {
	m, rng := l.plan.Model(), l.simulation()
	asked, scored := graph.NewMachine(m.Likelihood, patternBatch), graph.NewMachine(m.Likelihood, patternBatch)
	asked.Globals(at, nil)
	scored.Globals(truth, nil)
	g, score := make([]float64, l.plan.Latent), make([]float64, l.plan.Latent)
	for range records / patternBatch {
		rows := m.SimulateRecords(truth, patternBatch, rng)
		asked.Records(rows, m.Encoding.K, patternBatch, nil)
		scored.Records(rows, m.Encoding.K, patternBatch, nil)
		for r := range patternBatch {
			asked.Gradient(r, g)
			scored.Gradient(r, score)
			if finite(g) && finite(score) {
				use(g, score)
			}
		}
	}
}
