package score

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"d3p/internal/models/dist"
	"d3p/internal/models/predictive"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// Exceedance is a posterior predictive check: do as many responses exceed a threshold as
// the posterior predicts? The cell of a row has two parts: the predicted probability that
// the row's response exceeds it, rounded at random to a multiple of 1/exceedanceSteps
// without changing its mean; and whether the response does.
type Exceedance struct {
	Threshold float64
	table     *Table
}

const exceedanceSteps = 4

// exceedanceDraws bounds the draws, because each row draws its own responses.
const exceedanceDraws = 400

// Exceedance checks a number's threshold, in the unit of the file.
func (t *Table) Exceedance(threshold float64) (*Exceedance, error) {
	switch {
	case t.Target.Levels > 0:
		return nil, errors.New("the response is a category, whose calibration shows the same")
	case !(threshold >= *t.response.Lower && threshold < *t.response.Upper):
		return nil, fmt.Errorf("%g is not from %g to below %g, the declared bounds of %s", threshold, *t.response.Lower, *t.response.Upper, t.Target.Name)
	}
	return &Exceedance{threshold, t}, nil
}

// Cells is the number of cells of the one table.
func (e *Exceedance) Cells() []int { return []int{2 * (exceedanceSteps + 1)} }

// Place puts each row in its cell; see privacy.Placer. The random numbers of a row follow
// from the row alone, so that no other row can move it.
func (e *Exceedance) Place(tables []privacy.Placed, of privacy.RowRange) error {
	t, cells := e.table, tables[0].Cells
	k := t.model.Encoding.K
	all := rowsOf(t.model, of)
	block := t.model.Predict.BatchSize()
	machine := predictive.New(t.model, block)
	columns := len(t.model.Observed[t.Target.Observation].Columns)
	theta, drawn, above := make([]float64, t.model.P), make([]float64, columns*block), make([]int, block)
	random := make([]*noise.Random, block)
	draws := min(t.posterior.S, exceedanceDraws)
	for first := 0; first < all.N; first += block {
		n := min(block, all.N-first)
		data := all.Data[first*k:]
		clear(above)
		for b := range n {
			random[b] = noise.NewRandom(noise.Public(seedOf(data[b*k : (b+1)*k])).Stream(noise.Prediction))
		}
		for s := range draws {
			if s == 0 || !t.posterior.Point {
				t.posterior.Draw(theta, s)
				machine.Set(theta)
				machine.Records(data, k, n)
			}
			machine.DrawEach(drawn, t.Target.Observation, func(b int) dist.Rand { return random[b] })
			for b, y := range drawn[t.Target.Column*n : (t.Target.Column+1)*n] {
				if y > e.Threshold {
					above[b]++
				}
			}
		}
		for b := range n {
			y := t.response.Decode(data[b*k : (b+1)*k])
			if cells[first+b] = -1; !all.Valid[first+b] || y-y != 0 {
				continue
			}
			x := exceedanceSteps * float64(above[b]) / float64(draws)
			step := math.Floor(x + random[b].Uniform())
			cell := 2 * int(min(step, exceedanceSteps))
			if y > e.Threshold {
				cell++
			}
			cells[first+b] = cell
		}
	}
	return nil
}

// Metrics are the observed and the predicted share of records whose response exceeds the
// threshold, and their difference.
func (e *Exceedance) Metrics(counts []float64, sigma float64, random interface{ Normal() float64 }) []Metric {
	name := fmt.Sprintf("%s > %g", e.table.Target.Name, e.Threshold)
	list := metrics([]string{name + " observed", name + " predicted", name + " difference"}, e.shares, counts, sigma, random)
	list[0].within(0, 1)
	list[1].within(0, 1)
	return list
}

// shares are the observed and the predicted share above the threshold, and their difference.
func (e *Exceedance) shares(counts []float64) []float64 {
	var n, observed, predicted float64
	for i, c := range counts {
		n += c
		observed += c * float64(i%2)
		predicted += c * float64(i/2) / exceedanceSteps
	}
	if n <= 0 {
		n = math.NaN()
	}
	return []float64{observed / n, predicted / n, (observed - predicted) / n}
}

// seedOf is the seed of a row.
func seedOf(row []float64) uint64 {
	h := fnv.New64a()
	var bits [8]byte
	for _, x := range row {
		binary.LittleEndian.PutUint64(bits[:], math.Float64bits(x))
		h.Write(bits[:])
	}
	return h.Sum64()
}
