package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/encoding"
	"d3p/internal/predict"
)

// plain reads an outcome from the first number of a row.
var plain = encoding.Field{Kind: encoding.LevelCode, Out: []int{0}}

func local(levels int, asMean bool) *Local {
	return &Local{outcome: outcome{Target: predict.Target{Name: "y", Levels: levels}, asMean: asMean, response: plain}}
}

// expectScores compares scores with others, in order.
func expectScores(t *testing.T, l *Local, rows int, want map[string]float64) {
	t.Helper()
	got := l.Scores()
	if len(got) != len(want) {
		t.Errorf("%d scores, want %d", len(got), len(want))
	}
	for _, s := range got {
		if w, ok := want[s.Name]; !ok || s.Rows != rows || math.Abs(s.Value-w) > 1e-12 && !(math.IsNaN(w) && math.IsNaN(s.Value)) {
			t.Errorf("%s of %d rows: %v, want %v of %d", s.Name, s.Rows, s.Value, w, rows)
		}
	}
}

// TestLocalScores compares the scores with their definitions; a prediction or an outcome
// that is missing does not count.
func TestLocalScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p, y := simulated(500, rng)
	accuracy, auc, brier, log := direct(p, y)
	want := map[string]float64{"accuracy": accuracy, "auc": auc, "brier": brier, "log score": log}
	for _, asMean := range []bool{false, true} {
		l := local(2, asMean)
		for i := range p {
			l.Add(&predict.Summary{HasMean: true, Interval: predict.Interval{Mean: p[i]}, Levels: []float64{1 - p[i], p[i]}}, []float64{float64(y[i])})
		}
		l.Add(&predict.Summary{HasMean: true, Levels: []float64{1, 0}}, []float64{math.NaN()})
		expectScores(t, l, len(p), want)
	}
	three := local(3, false)
	for _, row := range [][4]float64{{.5, .3, .2, 0}, {.5, .3, .2, 1}, {.1, .2, .7, 2}, {.4, .4, .2, 1}} {
		three.Add(&predict.Summary{Levels: row[:3]}, row[3:])
	}
	expectScores(t, three, 4, map[string]float64{"accuracy": .5, "log score": math.Log(.5*.3*.7*.4) / 4})
	number := local(0, false)
	for _, row := range [][2]float64{{1, 2}, {5, 2}, {0, 0}} {
		number.Add(&predict.Summary{HasMean: true, Interval: predict.Interval{Mean: row[0]}}, row[1:])
	}
	number.Add(&predict.Summary{}, []float64{1})
	expectScores(t, number, 3, map[string]float64{"rmse": math.Sqrt(10. / 3), "mean absolute error": 4. / 3, "bias": -2. / 3})
	expectScores(t, local(2, true), 0, map[string]float64{"accuracy": math.NaN(), "auc": math.NaN(), "brier": math.NaN(), "log score": math.NaN()})
}

// TestAUC counts ties half, and takes scores that are no numbers.
func TestAUC(t *testing.T) {
	ones := func(i int) bool { return i%2 == 1 }
	for _, c := range []struct {
		scores []float64
		want   float64
	}{{[]float64{.1, .9, .2, .8}, 1}, {[]float64{.5, .5, .5, .5}, .5}, {[]float64{.9, .1, .2, .8}, .25}, {[]float64{.3, .3, .1, .8}, .875}} {
		if got := AUC(c.scores, ones); got != c.want {
			t.Errorf("%v: %v, want %v", c.scores, got, c.want)
		}
	}
	AUC([]float64{math.NaN(), math.NaN(), 1}, ones)
	if got := AUC([]float64{1, 2}, func(int) bool { return true }); !math.IsNaN(got) {
		t.Errorf("without a zero: %v", got)
	}
}
