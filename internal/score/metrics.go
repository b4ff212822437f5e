package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Metric is a score with its standard deviation due to the noise of the counts and the
// number of records.
type Metric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	SD    float64 `json:"sd"`
	Lower float64 `json:"q5"`
	Upper float64 `json:"q95"`
}

// Bin has the outcomes in one bin of predictions, for a calibration curve.
type Bin struct {
	Lower    float64 `json:"lower"` // of the predicted probability of the second level
	Upper    float64 `json:"upper"`
	Records  float64 `json:"records"`  // as counted with noise
	Observed float64 `json:"observed"` // share of the second level; null if the noise leaves no record
	SD       float64 `json:"sd"`
}

// replicates is the number of tables to draw for the spread of a score.
const replicates = 400

// Metrics are the scores of noisy counts whose noise has standard deviation sigma. It uses
// negative counts unchanged: sums of counts, and products of different ones, are then right
// on average. The spread is that over tables with other records and other noise.
func (t *Table) Metrics(counts []float64, sigma float64, random interface{ Normal() float64 }) []Metric {
	list := metrics(t.names(), t.scores, counts, sigma, random)
	for i := range list {
		list[i].bound()
	}
	return list
}

// metrics are named values of noisy counts, with their spread.
func metrics(names []string, of func(counts []float64) []float64, counts []float64, sigma float64, random interface{ Normal() float64 }) []Metric {
	values := of(counts)
	drawn := make([][]float64, len(names))
	again := make([]float64, len(counts))
	for range replicates {
		for i, n := range counts {
			again[i] = n + math.Sqrt(max(n, 0)+sigma*sigma)*random.Normal()
		}
		for k, x := range of(again) {
			if x-x == 0 {
				drawn[k] = append(drawn[k], x)
			}
		}
	}
	list := make([]Metric, len(names))
	for k, name := range names {
		list[k] = Metric{Name: name, Value: values[k], SD: math.NaN(), Lower: math.NaN(), Upper: math.NaN()}
		if d := drawn[k]; len(d) > replicates*9/10 && values[k]-values[k] == 0 {
			slices.Sort(d)
			list[k].SD, list[k].Lower, list[k].Upper = stat.StdDev(d, nil), d[len(d)*5/100], d[len(d)*95/100]
		}
	}
	return list
}

// bound keeps a score where scores can be.
func (m *Metric) bound() {
	low, high := 0., math.Inf(1)
	switch m.Name {
	case "accuracy", "auc", "brier":
		high = 1
	case "log score", "bias":
		low = math.Inf(-1)
	}
	if m.Name == "log score" {
		high = 0
	}
	m.within(low, high)
}

// within keeps the numbers of a score between two bounds.
func (m *Metric) within(low, high float64) {
	for _, x := range []*float64{&m.Value, &m.Lower, &m.Upper} {
		*x = min(max(*x, low), high)
	}
}

// names are the names of the scores.
func (t *Table) names() []string {
	switch t.Target.Levels {
	case 0:
		return []string{"rmse", "mean absolute error", "bias"}
	case 2:
		return []string{"accuracy", "auc", "brier", "log score"}
	}
	return []string{"accuracy", "log score"}
}

// scores are the scores of counts.
func (t *Table) scores(counts []float64) []float64 {
	switch t.Target.Levels {
	case 0:
		return t.ofErrors(counts)
	case 2:
		return t.ofTwoLevels(counts)
	}
	return t.ofLevels(counts)
}

// centre is the middle of bin i, between low and high at the ends.
func (t *Table) centre(i int, low, high float64) float64 {
	if i > 0 {
		low = t.Edges[i-1]
	}
	if i < len(t.Edges) {
		high = t.Edges[i]
	}
	return (low + high) / 2
}

func (t *Table) ofErrors(counts []float64) []float64 {
	var n, sum, square, absolute float64
	for i, c := range counts {
		e := t.Range * t.centre(i, -1, 1)
		n, sum, square, absolute = n+c, sum+c*e, square+c*e*e, absolute+c*math.Abs(e)
	}
	if n <= 0 {
		return []float64{math.NaN(), math.NaN(), math.NaN()}
	}
	return []float64{math.Sqrt(max(square, 0) / n), absolute / n, sum / n}
}

func (t *Table) ofTwoLevels(counts []float64) []float64 {
	var n, right, brier, log, below, pairs, ones, zeros float64
	for i := range len(counts) / 2 {
		p, no, yes := t.centre(i, 0, 1), counts[2*i], counts[2*i+1]
		n += no + yes
		if p >= 0.5 {
			right += yes
		} else {
			right += no
		}
		brier += yes*(1-p)*(1-p) + no*p*p
		log += yes*math.Log(p) + no*math.Log(1-p)
		pairs += yes * (below + no/2)
		below += no
		ones, zeros = ones+yes, zeros+no
	}
	auc := math.NaN()
	if ones > 0 && zeros > 0 {
		auc = pairs / (ones * zeros)
	}
	if n <= 0 {
		n = math.NaN()
	}
	return []float64{right / n, auc, brier / n, log / n}
}

func (t *Table) ofLevels(counts []float64) []float64 {
	var n, right, log float64
	for i := range len(counts) / 2 {
		c := counts[2*i] + counts[2*i+1]
		n, right, log = n+c, right+counts[2*i+1], log+c*math.Log(t.centre(i, 0, 1))
	}
	if n <= 0 {
		n = math.NaN()
	}
	return []float64{right / n, log / n}
}

// Calibration is the share of the second level in bins of its predicted probability, nil
// for other targets. Bins are tenths.
func (t *Table) Calibration(counts []float64, sigma float64) []Bin {
	if t.Target.Levels != 2 {
		return nil
	}
	bins := make([]Bin, 10)
	cells := make([]float64, 10)
	yes := make([]float64, 10)
	for i := range len(counts) / 2 {
		k := min(int(10*t.centre(i, 0, 1)), 9)
		bins[k].Records += counts[2*i] + counts[2*i+1]
		yes[k] += counts[2*i+1]
		cells[k]++
	}
	for k := range bins {
		b := &bins[k]
		b.Lower, b.Upper = float64(k)/10, float64(k+1)/10
		noise := sigma * math.Sqrt(cells[k])
		if b.Observed, b.SD = math.NaN(), math.NaN(); b.Records > 4*noise {
			b.Observed = min(max(yes[k]/b.Records, 0), 1)
			b.SD = math.Sqrt(b.Observed*(1-b.Observed)/b.Records + 2*noise*noise/(b.Records*b.Records))
		}
	}
	return bins
}
