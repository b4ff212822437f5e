package marginals

// Trust in a table is twice its excess: relations are few and strong, and the excess is an
// average. leastTrust keeps a measured table from being ignored. The fit stays
// well-conditioned by two bounds on trust: mostTrust times the number of records, and the
// trust at which a parameter's penalty is leastRidge.
const (
	leastTrust = 0.3
	mostTrust  = 0.01
	leastRidge = 20
)

func trust(excess, n float64, m *Measurement) float64 {
	return min(max(leastTrust, 2*excess), max(mostTrust*n, m.Variance/leastRidge))
}

// excess estimates the overdispersion of the true counts about the model's: their variance
// is excess times the count. It weights cells by the model's count, because deviations show
// in large counts.
func (l *learner) excess(m *Measurement, model []float64) float64 {
	return min(l.Domain.excess(m, model)-l.n/float64(l.sampled), l.n)
}

// excess is the overdispersion of the true counts about a model's.
func (d Domain) excess(m *Measurement, model []float64) float64 {
	noise := m.Variance * d.free(m.Table)
	a, b := 0.0, 0.0
	for c, y := range m.Counts {
		e := y - model[c]
		a += model[c] * (e*e - noise)
		b += model[c] * model[c]
	}
	if b == 0 {
		return 0
	}
	return a / b
}

// typical is the mean count of the cell of a record.
func typical(model []float64) float64 {
	sum, squares := 1e-9, 1e-9
	for _, m := range model {
		sum += m
		squares += m * m
	}
	return squares / sum
}
