package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/predict"
)

type normals struct{ *rand.Rand }

func (n normals) Normal() float64  { return n.NormFloat64() }
func (n normals) Uniform() float64 { return n.Float64() }

// exactly two levels, whose probabilities are spread as logistic regressions spread them.
func simulated(n int, rng *rand.Rand) (p []float64, y []int) {
	for range n {
		x := 1 / (1 + math.Exp(-(-1 + 1.5*rng.NormFloat64())))
		level := 0
		if rng.Float64() < x {
			level = 1
		}
		p, y = append(p, x), append(y, level)
	}
	return p, y
}

// direct are the scores without bins and without noise.
func direct(p []float64, y []int) (accuracy, auc, brier, log float64) {
	n := float64(len(p))
	var pairs, ones float64
	for i, x := range p {
		chosen := 0
		if x >= 0.5 {
			chosen = 1
		}
		if chosen == y[i] {
			accuracy += 1 / n
		}
		d := x - float64(y[i])
		brier += d * d / n
		if y[i] == 1 {
			log += math.Log(x) / n
			ones++
		} else {
			log += math.Log(1-x) / n
		}
	}
	for i := range p {
		for j := range p {
			if y[i] == 1 && y[j] == 0 && p[i] > p[j] {
				pairs++
			}
		}
	}
	return accuracy, pairs / (ones * (n - ones)), brier, log
}

func twoLevels() *Table {
	return &Table{outcome: outcome{Target: predict.Target{Levels: 2}}, Edges: probabilities}
}

func counted(t *Table, p []float64, y []int) []float64 {
	counts := make([]float64, t.Cells()[0])
	for i := range p {
		counts[t.cell(&predict.Summary{Levels: []float64{1 - p[i], p[i]}}, float64(y[i]))]++
	}
	return counts
}

// Without noise the scores of the table are those of the records, up to the width of
// bins.
func TestScoresOfTheTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p, y := simulated(4000, rng)
	accuracy, auc, brier, log := direct(p, y)
	table := twoLevels()
	got := table.scores(counted(table, p, y))
	for k, want := range []float64{accuracy, auc, brier, log} {
		if math.Abs(got[k]-want) > 0.004 {
			t.Errorf("score %d is %.4f, want %.4f", k, got[k], want)
		}
	}
}

// Intervals of 90 % hold the score of the population about that often: of 300 tables
// between 84 and 96 %, except in one of ten thousand such tests.
func TestIntervalsOfScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p, y := simulated(200_000, rng)
	table := twoLevels()
	truth := table.scores(counted(table, p, y))
	const tables = 300
	for _, c := range []struct {
		n     int
		sigma float64
	}{{400, 2}, {2000, 10}, {2000, 0.1}} {
		held := make([]int, len(truth))
		for range tables {
			p, y := simulated(c.n, rng)
			counts := counted(table, p, y)
			for i := range counts {
				counts[i] += c.sigma * rng.NormFloat64()
			}
			for k, m := range table.Metrics(counts, c.sigma, normals{rng}) {
				if m.Lower <= truth[k] && truth[k] <= m.Upper {
					held[k]++
				}
			}
		}
		for k, h := range held {
			if h < tables*84/100 || h > tables*96/100 {
				t.Errorf("N %d, noise %g: %d of %d intervals of score %d hold", c.n, c.sigma, h, tables, k)
			}
		}
	}
}

// Errors of a number: the table gives their root mean square and mean.
func TestScoresOfErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	table := &Table{Edges: errorEdges(), Range: 50}
	counts := make([]float64, table.Cells()[0])
	for range 20000 {
		y := 3*rng.NormFloat64() + 0.5
		counts[table.cell(&predict.Summary{HasMean: true}, y)]++
	}
	got := table.scores(counts)
	for k, want := range []float64{math.Sqrt(9.25), math.NaN(), 0.5} {
		if k != 1 && math.Abs(got[k]-want) > 0.1 {
			t.Errorf("score %d is %g, want %g", k, got[k], want)
		}
	}
}

// A row without prediction or outcome is in no cell.
func TestRowsWithoutACell(t *testing.T) {
	table := twoLevels()
	for _, outcome := range []float64{math.NaN(), -1, 2, math.Inf(1)} {
		if cell := table.cell(&predict.Summary{Levels: []float64{0.5, 0.5}}, outcome); cell != -1 {
			t.Errorf("outcome %g is in cell %d", outcome, cell)
		}
	}
	number := &Table{Edges: errorEdges(), Range: 1}
	if cell := number.cell(&predict.Summary{HasMean: false}, 1); cell != -1 {
		t.Errorf("no mean is in cell %d", cell)
	}
	for _, p := range []float64{0, 1, math.NaN(), math.Inf(1)} {
		if cell := table.cell(&predict.Summary{Levels: []float64{1 - p, p}}, 1); cell < 0 || cell >= table.Cells()[0] {
			t.Errorf("probability %g is in cell %d", p, cell)
		}
	}
}

// A utility from bins is near the one without them, less the mean of the cells for every
// record, and orders predictions as it does.
func TestUtility(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	two := &Table{outcome: outcome{Target: predict.Target{Levels: 2}}}
	number := &Table{Range: 10}
	for _, table := range []*Table{two, number} {
		table.ForUtility()
		const n = 20000
		utility := func(spoil float64) (binned, exact float64) {
			counts := make([]float64, table.Cells()[0])
			for range n {
				if table.Range > 0 {
					outcome := 5 + rng.NormFloat64()
					p := predict.Summary{HasMean: true, Interval: predict.Interval{Mean: outcome + (0.5+spoil)*rng.NormFloat64()}}
					counts[table.cell(&p, outcome)]++
					exact += math.Max(0, 1-math.Abs(outcome-p.Mean)/2.5)
					continue
				}
				x := rng.Float64()
				level := 0
				if rng.Float64() < x {
					level = 1
				}
				x += spoil * (0.5 - x)
				counts[table.cell(&predict.Summary{Levels: []float64{1 - x, x}}, float64(level))]++
				other := math.Abs(float64(level) - x)
				exact += 1 - other*other
			}
			return table.Utility(counts) / n, exact / n
		}
		good, exactGood := utility(0)
		poor, exactPoor := utility(0.8)
		if shift := exactGood - good; math.Abs(good-poor-(exactGood-exactPoor)) > 0.01 || !(shift > 0.3 && shift < 0.7) {
			t.Errorf("range %v: utilities %.4f and %.4f, without bins %.4f and %.4f", table.Range, good, poor, exactGood, exactPoor)
		}
	}
}
