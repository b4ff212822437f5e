// Package predict computes the predictions of a fitted posterior for new rows. It is
// post-processing of a release and costs no privacy. Nothing protects the new rows.
//
// Letters: B rows in a block, S posterior draws, P unconstrained scalars.
package predict

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
)

// Rows are rows encoded by EncodingOf. Row i is the numbers from i*Stride; they have no
// meaning if it is not Valid.
type Rows struct {
	Data      []float64
	N, Stride int
	Valid     []bool
}

// EncodingOf is the encoding of the rows to predict for: the columns that the predictors
// need, or the whole record for a model with local latents, whose guide reads it. It leaves
// out columns that no prediction reads, such as whether a time is censored.
func EncodingOf(m *models.Model) encoding.Encoding {
	if m.Reconstruct != nil {
		return m.Encoding
	}
	e := m.Encoding.Predictors()
	read := make([]bool, m.Predict.K)
	for _, b := range m.Predict.Buffers {
		for j := range b.Size {
			if b.Kind == graph.KColumn {
				read[b.Offset+j] = true
			}
		}
	}
	unread := func(f encoding.Field) bool {
		return !slices.ContainsFunc(f.Out, func(at int) bool { return at >= 0 && read[at] })
	}
	e.Fields = slices.DeleteFunc(e.Fields, unread)
	return e
}

// Posterior gives S draws of the unconstrained parameters.
type Posterior struct {
	S     int
	Prob  float64 // of the central intervals: 0.9 is from 5 % to 95 %
	Point bool    // all draws are the same
	// Draw sets theta (P) to draw s. Every block of rows asks for draws 0 to S-1
	// in turn, of a point for the first alone, and gets the same ones.
	Draw func(theta []float64, s int)
}

// QuantileNames names the ends of central intervals of a probability, as R's posterior
// does: q5 and q95 of 0.9.
func QuantileNames(prob float64) (low, high string) {
	return fmt.Sprintf("q%.4g", 50*(1-prob)), fmt.Sprintf("q%.4g", 50*(1+prob))
}

// Target is an observed column with predictions: every observed column outside arrays.
type Target struct {
	Name        string
	Observation int // index in Model.Observed
	Column      int // index in its Columns
	Levels      int // of a category; 0 for other columns
}

// Targets lists the targets of a model in order of declaration.
func Targets(m *models.Model) (list []Target) {
	for i := range m.Observed {
		o := &m.Observed[i]
		if m.Spec.Data.Tensor(o.Name) != nil {
			continue
		}
		for j, c := range o.Columns {
			t := Target{Name: c.Name.V, Observation: i, Column: j}
			if o.Levels >= 0 {
				t.Levels = len(c.LevelNames())
			}
			list = append(list, t)
		}
	}
	return list
}

// Prediction is the prediction for one row.
type Prediction struct {
	OK      bool        // the row has every value that the model needs; otherwise the other fields are unset
	Targets []Summary   // one per target
	Arrays  [][]float64 // expected values of each observation that is an array, nil of other observations
	// Bound is the lower bound on the row's log density, in nats, averaged over the
	// draws; for models with local latents alone.
	Bound float64
}

// Summary is the prediction of one target, in the unit of the data file.
type Summary struct {
	HasMean bool
	// Interval is of the expected response.
	Interval
	// YLower and YUpper hold a response that may be observed between them; meaningless
	// for a category.
	YLower, YUpper float64
	// Levels are the probabilities of a category's levels.
	Levels []float64
}

// Class is the most probable level of a category.
func (s *Summary) Class() int {
	best := 0
	for l, p := range s.Levels {
		if p > s.Levels[best] {
			best = l
		}
	}
	return best
}

// Predict calls emit for each row in order with its prediction, which the next call
// overwrites. Local latents of a model come from their guide.
func Predict(m *models.Model, posterior Posterior, rows Rows, rng dist.Rand, emit func(row int, p *Prediction) error) error {
	p := newPredictor(m, posterior, rng)
	out := &Prediction{Targets: make([]Summary, len(p.targets)), Arrays: make([][]float64, len(m.Observed))}
	return p.each(rows, func(row, b int) error {
		out.OK = rows.Valid[row]
		for t := range p.targets {
			p.summary(&out.Targets[t], t, b)
		}
		for i, sums := range p.arrays {
			if sums != nil {
				out.Arrays[i] = p.average(out.Arrays[i], sums, len(m.Observed[i].Columns), b)
			}
		}
		out.Bound = p.bounds[b] / float64(posterior.S)
		return emit(row, out)
	})
}

// Draws calls emit for each row in order with responses that may be observed, S
// for each of Targets, one per draw of the posterior. They are overwritten by the
// next call; NaN for a row that lacks a value.
func Draws(m *models.Model, posterior Posterior, rows Rows, rng dist.Rand, emit func(row int, responses [][]float64) error) error {
	p := newPredictor(m, posterior, rng)
	p.drawLevels = true
	responses := make([][]float64, len(p.targets))
	return p.each(rows, func(row, b int) error {
		for t := range responses {
			responses[t] = p.responses[t][b*posterior.S : (b+1)*posterior.S]
			for s := range responses[t] {
				if !rows.Valid[row] {
					responses[t][s] = math.NaN()
				}
			}
		}
		return emit(row, responses)
	})
}
