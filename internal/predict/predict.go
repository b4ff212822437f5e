// Package predict says what a fitted posterior expects of new rows. It is
// post-processing of a release and costs no privacy. The new rows are the
// caller's own; nothing here protects them.
//
// Letters: B rows in a block, S posterior draws, P unconstrained scalars.
package predict

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/quantile"
)

// Rows are rows encoded by Encoding.Predictors: row i is the numbers from
// i*Stride, meaningless where it is not Valid.
type Rows struct {
	Data      []float64
	N, Stride int
	Valid     []bool
}

// Row is the prediction of one observed column for one row, in the unit of the
// data file. All but OK are meaningless when OK is false.
type Row struct {
	OK      bool // the row has every value that the model needs
	HasMean bool
	// Mean and its quantiles are of the expected response, over the posterior.
	Mean, SD, Q5, Q95 float64
	// YQ5 and YQ95 are quantiles of a response that may be observed.
	YQ5, YQ95 float64
}

// block is the number of rows that are predicted together.
const block = 256

// Predict calls emit for each row in order with its predictions, one per
// observation of m; they are overwritten by the next call. theta holds S
// posterior draws, shape (S, P).
func Predict(m *models.Model, theta []float64, rows Rows, rng dist.Rand, emit func(row int, predictions []Row) error) error {
	p := newPredictor(m, theta, rng)
	predictions := make([]Row, len(m.Observed))
	return p.each(rows, func(row, b int) error {
		for i := range predictions {
			predictions[i] = p.row(i, b)
			predictions[i].OK = rows.Valid[row]
		}
		return emit(row, predictions)
	})
}

// Draws calls emit for each row in order with responses that may be observed, S
// for each observation of m, one per draw of theta, shape (S, P). They are
// overwritten by the next call; NaN for a row that lacks a value.
func Draws(m *models.Model, theta []float64, rows Rows, rng dist.Rand, emit func(row int, responses [][]float64) error) error {
	p := newPredictor(m, theta, rng)
	responses := make([][]float64, len(m.Observed))
	return p.each(rows, func(row, b int) error {
		for i := range responses {
			responses[i] = p.responses[i][b*p.draws() : (b+1)*p.draws()]
			for s := range responses[i] {
				if !rows.Valid[row] {
					responses[i][s] = math.NaN()
				}
			}
		}
		return emit(row, responses)
	})
}

type predictor struct {
	m         *models.Model
	machine   *models.Predictive
	theta     []float64
	rng       dist.Rand
	hasMean   []bool      // by observation
	means     [][]float64 // by observation: [block x S]
	responses [][]float64 // by observation: [block x S]
	lanes     []float64   // of one observation in one block
}

func newPredictor(m *models.Model, theta []float64, rng dist.Rand) *predictor {
	p := &predictor{m: m, machine: m.NewPredictive(block), theta: theta, rng: rng, hasMean: make([]bool, len(m.Observed))}
	size := block * p.draws()
	for _, o := range m.Observed {
		p.means = append(p.means, make([]float64, size))
		p.responses = append(p.responses, make([]float64, size))
		if need := block * len(o.Columns); need > len(p.lanes) {
			p.lanes = make([]float64, need)
		}
	}
	return p
}

func (p *predictor) draws() int { return len(p.theta) / p.m.P }

// each runs all rows and calls emit for each in order: row of all, b of its block.
func (p *predictor) each(rows Rows, emit func(row, b int) error) error {
	for first := 0; first < rows.N; first += block {
		n := min(block, rows.N-first)
		p.run(rows.Data[first*rows.Stride:], rows.Stride, n)
		for b := range n {
			if err := emit(first+b, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// run fills means and responses for n rows.
func (p *predictor) run(data []float64, stride, n int) {
	draws := p.draws()
	for s := range draws {
		p.machine.Set(p.theta[s*p.m.P : (s+1)*p.m.P])
		p.machine.Records(data, stride, n)
		for i := range p.m.Observed {
			if p.hasMean[i] = p.machine.Mean(p.lanes, i); p.hasMean[i] {
				scatter(p.means[i], p.lanes[:n], s, draws)
			}
			p.machine.Draw(p.lanes, i, p.rng)
			scatter(p.responses[i], p.lanes[:n], s, draws)
		}
	}
}

// scatter puts draw s of every row in its place.
func scatter(dst, lanes []float64, s, draws int) {
	for b, x := range lanes {
		dst[b*draws+s] = x
	}
}

// row summarises observation i of row b.
func (p *predictor) row(i, b int) Row {
	from, to := b*p.draws(), (b+1)*p.draws()
	r := Row{HasMean: p.hasMean[i]}
	if r.HasMean {
		x := p.means[i][from:to]
		for _, v := range x {
			r.Mean += v / float64(len(x))
		}
		for _, v := range x {
			r.SD += (v - r.Mean) * (v - r.Mean) / float64(len(x))
		}
		r.SD = math.Sqrt(r.SD)
		r.Q5, r.Q95 = interval(x)
	}
	r.YQ5, r.YQ95 = interval(p.responses[i][from:to])
	return r
}

// interval sorts x and returns its 5 % and 95 % quantiles.
func interval(x []float64) (q5, q95 float64) {
	slices.Sort(x)
	return quantile.Of(x, 0.05), quantile.Of(x, 0.95)
}
