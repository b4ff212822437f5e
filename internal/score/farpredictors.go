package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
)

// FarPredictor is a column of numbers, whose rows far out have cells of their own. Center and SD are its mean
// and standard deviation by the law of Table 1, in the unit that the model reads.
type FarPredictor struct {
	Column string  `json:"column"`
	Center float64 `json:"center"`
	SD     float64 `json:"sd"`
}

// FarDistances are the distances, in standard deviations, at which the cells of a predictor begin; the last one
// has no end. One of 500 million normal numbers is beyond the first.
var FarDistances = []float64{6, 18}

// farPredictors are the numbers that m predicts with, by rows [n x Encoding.K] of their law; without those
// that have no spread.
func farPredictors(m *models.Model, rows []float64) (list []FarPredictor) {
	k := m.Encoding.K
	for _, f := range m.Encoding.Fields {
		if !isNumber(f) {
			continue
		}
		var values []float64
		for at := f.Out[0]; at < len(rows); at += k {
			if x := rows[at]; !math.IsNaN(x) {
				values = append(values, x)
			}
		}
		mean, sd := stat.MeanStdDev(values, nil)
		if sd > 0 && sd <= math.MaxFloat64 && math.Abs(mean) <= math.MaxFloat64 {
			list = append(list, FarPredictor{f.Column, mean, sd})
		}
	}
	return list
}

// PredictsByNumbers reports whether m has predictors that rows may be far out in.
func PredictsByNumbers(m *models.Model) bool { return slices.ContainsFunc(m.Encoding.Fields, isNumber) }

// places are the places in a row (Encoding.K) of m of the predictors that have cells; ok reports whether m has all.
func (q *Surprisals) places(m *models.Model) (list []int, ok bool) {
	for _, far := range q.Far {
		at := slices.IndexFunc(m.Encoding.Fields, func(f encoding.Field) bool { return f.Column == far.Column && isNumber(f) })
		if at < 0 || !(far.SD > 0) {
			return nil, false
		}
		list = append(list, m.Encoding.Fields[at].Out[0])
	}
	return list, true
}

func isNumber(f encoding.Field) bool {
	return f.Kind == encoding.Numeric && f.Role == encoding.Predictor
}

// farCell returns the cell of a row (Encoding.K) and its distance, by the predictor in which it is farthest out;
// 0 and 0 if it is far out in none.
func (q *Surprisals) farCell(row []float64, places []int) (cell int, distance float64) {
	for j, far := range q.Far {
		d := math.Abs(row[places[j]]-far.Center) / far.SD
		if d >= FarDistances[0] && d > distance {
			cell, distance = q.firstFar(j), d
			for _, from := range FarDistances[1:] {
				if d >= from {
					cell++
				}
			}
		}
	}
	return cell, distance
}

// Reach is the largest distance, in standard deviations, that the bounds of predictor j of m allow.
func (q *Surprisals) Reach(m *models.Model, j int) (most float64) {
	far := q.Far[j]
	for _, f := range m.Encoding.Fields {
		if f.Column != far.Column || !isNumber(f) {
			continue
		}
		for _, bound := range []*float64{f.Lower, f.Upper} {
			if bound == nil {
				return math.Inf(1)
			}
			most = math.Max(most, math.Abs(f.Encoded(*bound)-far.Center)/far.SD)
		}
	}
	return most
}

// firstFar is the first cell of predictor j.
func (q *Surprisals) firstFar(j int) int { return len(q.Edges) + 1 + j*len(FarDistances) }

// Complete reports whether q has bought counts of all cells for m.
func (q *Surprisals) Complete(m *models.Model) bool {
	_, ok := q.places(m)
	return ok && len(q.Edges) > 1 && len(q.Counts) == q.cells() && len(q.Theta) == m.P
}

// OfPredictor are the bought counts of predictor j, by FarDistances.
func (q *Surprisals) OfPredictor(j int) []float64 {
	first := q.firstFar(j)
	return q.Counts[first : first+len(FarDistances)]
}
