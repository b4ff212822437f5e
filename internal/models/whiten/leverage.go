package whiten

import (
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
)

// LevelDeviations are what sets the records of each level of a category of l, of both values of a 0/1 column,
// apart from the mean of the design, center (K).
func LevelDeviations(m *models.Model, l models.LinearPredictor, center []float64) (list []*mat.VecDense) {
	columns := map[string][]int{}
	var order []string
	for j, label := range l.Coefficients.Dims[0].Labels {
		factors, _ := m.Spec.Data.Factors(label)
		if len(factors) != 1 || factors[0].Column.Numeric() {
			continue
		}
		c := factors[0].Column.HeaderName()
		if columns[c] == nil {
			order = append(order, c)
		}
		columns[c] = append(columns[c], j)
	}
	for _, c := range order {
		reference := mat.NewVecDense(len(center), nil)
		for _, j := range columns[c] {
			reference.SetVec(j, -center[j])
		}
		list = append(list, reference)
		for _, j := range columns[c] {
			level := mat.VecDenseCopyOf(reference)
			level.SetVec(j, 1-center[j])
			list = append(list, level)
		}
	}
	return list
}

// LimitLeverage adds variance to the covariance s (K×K) along deviations (K), until each is at most
// most standard deviations long. It does nothing to a matrix without an inverse.
func LimitLeverage(s *mat.SymDense, deviations []*mat.VecDense, most float64) {
	var root mat.Cholesky
	var inverse mat.SymDense
	if len(deviations) == 0 || !root.Factorize(s) || root.InverseTo(&inverse) != nil {
		return
	}
	for _, u := range deviations {
		var solved mat.VecDense
		solved.MulVec(&inverse, u)
		square := mat.Dot(u, &solved)
		if square <= most*most {
			continue
		}
		more := 1/(most*most) - 1/square
		s.SymRankOne(s, more, u)
		inverse.SymRankOne(&inverse, -more/(1+more*square), &solved) // Sherman and Morrison 1950
	}
}
