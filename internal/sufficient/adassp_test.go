package sufficient

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// squares are the moments of rows of p columns and a response, with noise added.
func squares(rng *rand.Rand, p, rows int, noise float64) (*Moments, *mat.Dense, *mat.VecDense) {
	x, y := mat.NewDense(rows, p, nil), mat.NewVecDense(rows, nil)
	m := &Moments{P: p, Values: make([]float64, (p+1)*(p+2)/2), Noise: noise}
	for i := range rows {
		row := []float64{1}
		sum := 0.3 * rng.NormFloat64()
		for j := 1; j < p; j++ {
			row = append(row, rng.Float64()-0.5)
			sum += float64(j) * row[j]
		}
		x.SetRow(i, row)
		y.SetVec(i, sum)
		row = append(row, sum)
		at := 0
		for j := range row {
			for k := j; k < len(row); k++ {
				m.Values[at] += row[j] * row[k]
				at++
			}
		}
	}
	for i := range m.Values {
		m.Values[i] += noise * rng.NormFloat64()
	}
	return m, x, y
}

// Without noise the estimate is that of least squares, and so is the variance.
func TestAdaSSPIsLeastSquares(t *testing.T) {
	m, x, y := squares(rand.New(rand.NewPCG(1, 1)), 4, 500, 0)
	var want mat.VecDense
	if err := want.SolveVec(x, y); err != nil {
		t.Fatal(err)
	}
	gamma, variance := m.AdaSSP()
	for j, g := range gamma {
		if math.Abs(g-want.AtVec(j)) > 1e-9 {
			t.Errorf("coefficient %d is %g, want %g", j, g, want.AtVec(j))
		}
	}
	var rest mat.VecDense
	rest.MulVec(x, &want)
	rest.SubVec(y, &rest)
	if square := mat.Dot(&rest, &rest) / 500; math.Abs(variance-square) > 1e-9 {
		t.Errorf("variance %g, want %g", variance, square)
	}
}

// The ridge is that of Wang's algorithm where the least eigenvalue is between the bound on
// the noise and twice it; far above there is none; below, the design stays at the bound.
func TestAdaSSPRidge(t *testing.T) {
	for _, c := range []struct{ least, ridge float64 }{{3, 0}, {2, 0}, {1.7, 0.3}, {1, 1}, {0.4, 1}, {-0.5, 1.5}, {-3, 4}} {
		const p, noise = 3, 0.25
		bound := noise * math.Sqrt(p*math.Log(2*p*p/0.05))
		// a diagonal design with this least eigenvalue in units of the bound, and Σxy = 1
		m := &Moments{P: p, Noise: noise, Values: []float64{9 * bound, 0, 0, 1, c.least * bound, 0, 1, 8 * bound, 1, 30}}
		gamma, _ := m.AdaSSP()
		if got, want := 1/gamma[1], (c.least+c.ridge)*bound; math.Abs(got-want) > 1e-9 {
			t.Errorf("least eigenvalue %g B: the design has %g there, want %g", c.least, got, want)
		}
	}
}

// The ridge makes the estimate no worse than zero where noise is much of the design, and the
// plain solution is.
func TestAdaSSPBeatsThePlainSolution(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	ridge, plain := 0.0, 0.0
	for range 200 {
		m, _, _ := squares(rng, 4, 200, 8)
		gamma, variance := m.AdaSSP()
		var x mat.VecDense
		right := mat.NewVecDense(4, []float64{m.At(0, 4), m.At(1, 4), m.At(2, 4), m.At(3, 4)})
		if err := x.SolveVec(m.Design(), right); err != nil {
			t.Fatal(err)
		}
		for j, g := range gamma {
			ridge += math.Pow(g-float64(j), 2) / 200
			plain += math.Pow(x.AtVec(j)-float64(j), 2) / 200
		}
		if !(variance > 0) || math.IsInf(variance, 1) {
			t.Fatalf("variance %g", variance)
		}
	}
	if zero := 14.0; ridge > zero || ridge > plain/2 {
		t.Errorf("squared errors: %.3g with the ridge, %.3g without, %.3g of zero", ridge, plain, zero)
	}
}
