package stattest

import "gonum.org/v1/gonum/stat/distuv"

// minExpected is the smallest expected count of a pooled cell. The chi-square
// limit is used at probabilities near Alpha, so the cells are kept large.
const minExpected = 50

// ChiSquare returns the p-value of Pearson's goodness-of-fit test. The
// expected counts must have the same total as the observed ones. Neighbouring
// cells are pooled until each expects at least 50; fewer than two pooled cells
// test nothing and panic.
func ChiSquare(observed []int, expected []float64) float64 {
	if len(observed) != len(expected) {
		panic("stattest: observed and expected differ in length")
	}
	var obs, exp []float64
	var o, e float64
	for i := range observed {
		o += float64(observed[i])
		e += expected[i]
		if e >= minExpected {
			obs, exp = append(obs, o), append(exp, e)
			o, e = 0, 0
		}
	}
	if len(exp) < 2 {
		panic("stattest: fewer than two cells after pooling")
	}
	obs[len(obs)-1] += o
	exp[len(exp)-1] += e
	var chi2 float64
	for i := range exp {
		d := obs[i] - exp[i]
		chi2 += d * d / exp[i]
	}
	return distuv.ChiSquared{K: float64(len(exp) - 1)}.Survival(chi2)
}

// Uniform returns the p-value of the counts under the law that makes every
// cell equally likely.
func Uniform(observed []int) float64 {
	total := 0
	for _, o := range observed {
		total += o
	}
	expected := make([]float64, len(observed))
	for i := range expected {
		expected[i] = float64(total) / float64(len(observed))
	}
	return ChiSquare(observed, expected)
}
