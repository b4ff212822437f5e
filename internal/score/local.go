package score

import (
	"cmp"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/predict"
)

// A Local scores the predictions of one column for rows that the reader may see, without
// noise.
type Local struct {
	outcome
	probabilities [][]float64 // of the levels, by row
	levels        []int       // that came
	errors        []float64   // of a number: outcome less expected response
}

// LocalScore is a score of rows without noise.
type LocalScore struct {
	Column string  `json:"column"`
	Rows   int     `json:"rows"` // that have a prediction and an outcome
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
}

// Locals has one score for each of predict.Targets, and the encoding of their outcomes.
func Locals(m *models.Model) (list []*Local, e encoding.Encoding, err error) {
	e = m.Encoding.Predictors()
	e.Fields, e.K = nil, m.Encoding.K
	for _, t := range predict.Targets(m) {
		o, err := outcomeOf(m, t)
		if err != nil {
			return nil, e, err
		}
		o.response.Missing = encoding.MissingReject
		list, e.Fields = append(list, &Local{outcome: o}), append(e.Fields, o.response)
	}
	return list, e, nil
}

// Add adds a prediction and the encoded outcomes of its row.
func (l *Local) Add(p *predict.Summary, row []float64) {
	value := l.response.Decode(row)
	if l.Target.Levels == 0 {
		if e := value - p.Mean; p.HasMean && e-e == 0 {
			l.errors = append(l.errors, e)
		}
		return
	}
	level, ok := l.level(p, value)
	if !ok {
		return
	}
	probabilities := slices.Clone(p.Levels)
	if l.asMean {
		probabilities = []float64{1 - p.Mean, p.Mean}
	}
	l.probabilities, l.levels = append(l.probabilities, probabilities), append(l.levels, level)
}

// Scores are the scores of the rows, in the order of Table's.
func (l *Local) Scores() (list []LocalScore) {
	add := func(name string, value float64) {
		list = append(list, LocalScore{l.Target.Name, max(len(l.errors), len(l.levels)), name, value})
	}
	mean := func(count int, of func(i int) float64) float64 {
		sum := 0.0
		for i := range count {
			sum += of(i)
		}
		return sum / float64(count)
	}
	if l.Target.Levels == 0 {
		e := l.errors
		add("rmse", math.Sqrt(mean(len(e), func(i int) float64 { return e[i] * e[i] })))
		add("mean absolute error", mean(len(e), func(i int) float64 { return math.Abs(e[i]) }))
		add("bias", mean(len(e), func(i int) float64 { return e[i] }))
		return list
	}
	n := len(l.levels)
	add("accuracy", mean(n, func(i int) float64 {
		if slices.Index(l.probabilities[i], slices.Max(l.probabilities[i])) == l.levels[i] {
			return 1
		}
		return 0
	}))
	if l.Target.Levels == 2 {
		second := make([]float64, n)
		for i, p := range l.probabilities {
			second[i] = p[1]
		}
		add("auc", AUC(second, func(i int) bool { return l.levels[i] == 1 }))
		add("brier", mean(n, func(i int) float64 { return (second[i] - float64(l.levels[i])) * (second[i] - float64(l.levels[i])) }))
	}
	add("log score", mean(n, func(i int) float64 { return math.Log(l.probabilities[i][l.levels[i]]) }))
	return list
}

// AUC is the area under the ROC curve: the share of pairs of a one and a zero in which the
// one has the larger score, a tie counting half. NaN without such a pair.
func AUC(scores []float64, one func(i int) bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	var below, ones, pairs float64 // zeros below, ones, pairs in order
	for i := 0; i < len(order); {
		var above, equal float64 // ones and zeros of one score
		for first := scores[order[i]]; i < len(order) && cmp.Compare(scores[order[i]], first) == 0; i++ {
			if one(order[i]) {
				above++
			} else {
				equal++
			}
		}
		pairs += above * (below + equal/2)
		below, ones = below+equal, ones+above
	}
	return pairs / (ones * below)
}
