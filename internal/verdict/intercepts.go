package verdict

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models/naming"
	"d3p/internal/outputs"
)

const movesWith = 0.9 // correlation

// judgeIntercepts caps the verdict of an intercept by those of the coefficients that it moves
// with, one or all together: it is at the declared centers of their columns, which may be far from
// all records.
func (d *judged) judgeIntercepts() {
	for _, value := range []string{outputs.Not, outputs.Partly} {
		var slopes []int
		for w := range d.Variables {
			if base, _ := naming.Split(d.Variables[w].Name); base == naming.Slopes && order(d.Variables[w].Verdict.Value) >= order(value) {
				slopes = append(slopes, w)
			}
		}
		var basis [][]float64 // of the slopes' draws, for all intercepts
		for v := range d.Variables {
			if len(slopes) == 0 || !isIntercept(d.Variables[v].Name) || order(d.Variables[v].Verdict.Value) >= order(value) {
				continue
			}
			of, moves := slopes[0], 0.0 // the coefficient that it moves with most
			for _, w := range slopes {
				if rho := math.Abs(correlation(d.Of(v), d.Of(w))); rho >= moves {
					of, moves = w, rho
				}
			}
			if moves <= movesWith && 2*len(slopes) < d.S { // fewer draws would always tell
				if basis == nil {
					basis = d.orthogonal(slopes)
				}
				moves = explained(d.Of(v), basis)
			}
			if moves > movesWith {
				x := d.Variables[of]
				*d.Variables[v].Verdict = outputs.Verdict{Value: value, Why: fmt.Sprintf("it is at the declared centers, and moves with %s, which is not resolved: %s", x.Name, x.Verdict.Why)}
			}
		}
	}
}

// orthogonal are the draws of variables, centred, each orthogonal to those before.
func (d *judged) orthogonal(variables []int) (basis [][]float64) {
	for _, w := range variables {
		own := centred(d.Of(w))
		for _, b := range basis {
			takeOut(own, b)
		}
		basis = append(basis, own)
	}
	return basis
}

// explained is the correlation of y with its best prediction by an orthogonal basis.
func explained(y []float64, basis [][]float64) float64 {
	rest := centred(y)
	_, all := stat.MeanVariance(rest, nil)
	for _, b := range basis {
		takeOut(rest, b)
	}
	_, left := stat.MeanVariance(rest, nil)
	return math.Sqrt(max(0, 1-left/all))
}

// centred is x less its mean.
func centred(x []float64) []float64 {
	mean, _ := stat.MeanVariance(x, nil)
	out := slices.Clone(x)
	for i := range out {
		out[i] -= mean
	}
	return out
}

// takeOut makes x, with mean 0, orthogonal to b.
func takeOut(x, b []float64) {
	cross, square := 0.0, 0.0
	for i, v := range b {
		cross, square = cross+v*x[i], square+v*v
	}
	if !(square > 0) {
		return
	}
	for i, v := range b {
		x[i] -= cross / square * v
	}
}

// correlation is that of two variables' draws; about 0 or NaN if one is constant, where
// stat.Correlation may be anything.
func correlation(x, y []float64) float64 {
	ofX, square := stat.MeanVariance(x, nil)
	ofY, other := stat.MeanVariance(y, nil)
	sum := 0.0
	for i := range x {
		sum += (x[i] - ofX) * (y[i] - ofY) / float64(len(x)-1)
	}
	return sum / math.Sqrt(square*other)
}
