package marginals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Weights of squared parameters of an association: normal priors of standard deviation 10 for
// two orders, where a correlation of .9 is 5, and of 2 for a shift of a column in a cell.
const (
	slopeRidge = 0.01
	shiftRidge = 0.25
	steps      = 25
	mostStep   = 1.0
)

// association is the model p(c) = α_row β_column exp(Σ_j θ_j f_j(c)) of the cells of a pair of
// columns with given counts n p of both. Normal columns have it, at θ = r/(1-r²).
type association struct {
	rows, columns []float64 // counts
	basis         [][]float64
	kernel        []float64 // exp(Σ_j θ_j f_j), 0 for zeros
	zeros         []Zeros
	n             float64
	a, b          []float64 // α and β
	count         []float64 // n p
	theta         []float64
}

// fit sets the parameters by Gauss-Newton steps and returns their covariance that is due to the
// tables' noise.
func (s *association) fit(tables []Measurement, groups [][]int32, ridge float64) *mat.Dense {
	k := len(s.basis)
	s.theta = make([]float64, k)
	s.start()
	h, noise, g, step := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil), mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	var chol mat.Cholesky
	s.rake()
	for range steps {
		s.normal(h, noise, g, s.tangents(), tables, groups)
		for j := range k {
			h.SetSym(j, j, h.At(j, j)+ridge)
			g.SetVec(j, g.AtVec(j)-ridge*s.theta[j])
		}
		if !chol.Factorize(h) || chol.SolveVecTo(step, g) != nil {
			break
		}
		moved := s.move(step)
		s.rake()
		if moved < 1e-4 {
			break
		}
	}
	var half, covariance mat.Dense
	if half.Solve(h, noise) != nil || covariance.Solve(h, half.T()) != nil {
		return mat.NewDense(k, k, nil)
	}
	return &covariance
}

// normal sets the normal equations: for counts n P of a table's cells, with slopes D and
// residuals r, h is Σ D D'/(σ² + n P), g is Σ D r/(σ² + n P). noise is the variance of g that
// is due to noise.
func (s *association) normal(h, noise *mat.SymDense, g *mat.VecDense, tangents [][]float64, tables []Measurement, groups [][]int32) {
	h.Zero()
	noise.Zero()
	g.Zero()
	k := len(tangents)
	for i, m := range tables {
		counts := make([]float64, len(m.Counts))
		slopes := make([][]float64, k)
		for c, y := range s.count {
			counts[groups[i][c]] += y
		}
		for j, f := range tangents {
			slopes[j] = make([]float64, len(counts))
			for c, y := range s.count {
				slopes[j][groups[i][c]] += y * f[c]
			}
		}
		for c, y := range counts {
			v := 1 / (m.Variance + y)
			for a := range k {
				g.SetVec(a, g.AtVec(a)+v*slopes[a][c]*(m.Counts[c]-y))
				for b := a; b < k; b++ {
					w := v * slopes[a][c] * slopes[b][c]
					h.SetSym(a, b, h.At(a, b)+w)
					noise.SetSym(a, b, noise.At(a, b)+w*v*m.Variance)
				}
			}
		}
	}
}

func (s *association) start() {
	s.a, s.b = make([]float64, len(s.rows)), make([]float64, len(s.columns))
	s.kernel, s.count = make([]float64, len(s.rows)*len(s.columns)), make([]float64, len(s.rows)*len(s.columns))
	for _, y := range s.rows {
		s.n += y
	}
}

// move adds a step to the parameters, shortened to mostStep, and returns its length: the root
// mean square of what it adds to log probabilities.
func (s *association) move(step *mat.VecDense) float64 {
	squares := 0.0
	for c, y := range s.count {
		sum := 0.0
		for j, f := range s.basis {
			sum += step.AtVec(j) * f[c]
		}
		squares += y * sum * sum
	}
	length := math.Sqrt(squares / s.n)
	rate := min(1, mostStep/max(length, 1e-300))
	for j := range s.theta {
		s.theta[j] += rate * step.AtVec(j)
	}
	return rate * length
}

// rake sets the counts at the parameters (Sinkhorn 1967).
func (s *association) rake() {
	width := len(s.columns)
	most := make([]float64, width)
	for j := range most {
		s.b[j], most[j] = 1, math.Inf(-1)
	}
	for i := range s.rows { // α and β take the largest of a row and of a column
		row := s.kernel[i*width : (i+1)*width]
		for j := range row {
			row[j] = 0
			for k, f := range s.basis {
				row[j] += s.theta[k] * f[i*width+j]
			}
		}
		largest := slices.Max(row)
		for j := range row {
			row[j] -= largest
			most[j] = max(most[j], row[j])
		}
	}
	for c, x := range s.kernel {
		s.kernel[c] = math.Exp(x - most[c%width])
		for _, z := range s.zeros {
			if z.Empty[c] {
				s.kernel[c] = 0
			}
		}
	}
	below := make([]float64, width)
	for range 100 {
		clear(below)
		off := 0.0
		for i, y := range s.rows {
			row, sum := s.kernel[i*width:(i+1)*width], 1e-300
			for j, x := range row {
				sum += x * s.b[j]
			}
			off += math.Abs(y - s.a[i]*sum)
			s.a[i] = y / sum
			for j, x := range row {
				below[j] += x * s.a[i]
			}
		}
		for j, y := range s.columns {
			s.b[j] = y / (below[j] + 1e-300)
		}
		if off < 1e-6*s.n {
			break
		}
	}
	for c, x := range s.kernel {
		s.count[c] = x * s.a[c/width] * s.b[c%width]
	}
}

// tangents are the slopes of log p in the parameters, with α and β following: each basis without
// its parts by row and by column, weighted by the counts.
func (s *association) tangents() [][]float64 {
	var list [][]float64
	width := len(s.columns)
	for _, f := range s.basis {
		f = slices.Clone(f)
		for range 20 {
			rows, columns := make([]float64, len(s.rows)), make([]float64, width)
			for c, y := range s.count {
				rows[c/width] += y * f[c]
			}
			for c := range f {
				f[c] -= rows[c/width] / (s.rows[c/width] + 1e-9)
			}
			moved := 0.0
			for c, y := range s.count {
				columns[c%width] += y * f[c]
			}
			for j, y := range columns {
				moved += math.Abs(y)
				columns[j] /= s.columns[j] + 1e-9
			}
			for c := range f {
				f[c] -= columns[c%width]
			}
			if moved < 1e-4*s.n {
				break
			}
		}
		list = append(list, f)
	}
	return list
}
