package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// DesignEffects tell how much more the rows of a unit are alike than independent rows: for each parameter the factor
//
//	V = Σ_u (Σ_r g)² / Σ_u Σ_r g²
//
// over gradients g of the rows r of units u at θ, where the fit ended, by which sums of gradients vary more (Kish 1965;
// the middle of the sandwich of Liang and Zeger 1986, doi:10.1093/biomet/73.1.13). They are bought after the last step
// as tables of units: by number of rows, and for each parameter by sums of squares, of which a bound counts as one. The
// two of V have bounds that cut nearly the same of both, so what they cut is not in their ratio.
type DesignEffects struct {
	Noise float64 `json:"noise"` // standard deviation of each count's noise
	// Theta is θ on the unconstrained scale of the fit, shape (P).
	Theta []float64 `json:"theta,omitempty"`
	// Together is the square of the sum of a unit's gradients, Apart the sum of their squares. Alone is that sum with a
	// bound for each square. All have shape (P).
	Together []Squares `json:"together"`
	Apart    []Squares `json:"apart"`
	Alone    []Squares `json:"alone"`
	// Rows are the noisy numbers of units with 1, 2, ... rows; nil before they are bought.
	Rows []float64 `json:"rows,omitempty"`
	// Effects follow from them, shape (P); nil before.
	Effects []DesignEffect `json:"effects,omitempty"`
	// Open is what is not known of the log of V of the declared parameters, a standard deviation, shape (P).
	Open []float64 `json:"open,omitempty"`
}

// Squares are the squares of units in one parameter.
type Squares struct {
	Row   float64 `json:"row,omitempty"` // the most of a row
	Bound float64 `json:"bound"`         // that counts as one
	Sum   float64 `json:"sum"`           // over all units, in units of Bound, with noise
}

// DesignEffect is V of a parameter, and Information the factor by which the squares of rows, whose mean is their
// information, are larger than those of simulated rows; each with the standard deviation of what is not known of its log.
type DesignEffect struct {
	Value         float64 `json:"value"`
	LogSD         float64 `json:"log_sd"`
	Information   float64 `json:"information"`
	InformationSD float64 `json:"information_log_sd"`
}

// NewDesignEffects plans those of a fit with this number of parameters, at the price of a Gaussian with parameter mu.
func NewDesignEffects(parameters int, mu float64, rel event.Relation) *DesignEffects {
	q := &DesignEffects{Noise: 1, Together: make([]Squares, parameters), Apart: make([]Squares, parameters), Alone: make([]Squares, parameters)}
	q.Noise = 1 / (mu * q.Events(rel)[0].(event.Gaussian).NoiseMultiplier)
	return q
}

// Events is the event of all tables together; none for nil.
func (q *DesignEffects) Events(rel event.Relation) []event.Event {
	if q == nil {
		return nil
	}
	tables := slices.Repeat([]privacy.Partition{{Noise: q.Noise}}, 1+3*len(q.Together))
	return []event.Event{privacy.CountsEvent(tables, rel)}
}

// Known reports whether they are bought.
func (q *DesignEffects) Known() bool { return q != nil && q.Rows != nil }

// With is q with the counts of its tables.
func (q DesignEffects) With(counts [][]float64) *DesignEffects {
	q.Rows, counts = counts[0], counts[1:]
	for _, list := range []*[]Squares{&q.Together, &q.Apart, &q.Alone} {
		*list = slices.Clone(*list)
		for j := range *list {
			(*list)[j].Sum, counts = counts[0][1], counts[1:]
		}
	}
	return &q
}

// Shares are the shares of units with 1, 2, ... rows.
func (q *DesignEffects) Shares() []float64 { return stats.Simplex(q.Rows, 1) }

// At are the tables to buy at theta (P) of n units, with bounds by units of m whose columns have the law l. Rows that are
// alike by half multiply the square of their sum by about √R, of at most R rows. A unit is alone bounded by as much for each
// of R rows: none is cut, so the factor is that of the rows by themselves.
func (q DesignEffects) At(m *models.Model, theta []float64, l *law.Law, n int) *DesignEffects {
	q.Theta, q.Together, q.Apart, q.Alone = slices.Clone(theta), nil, nil, nil
	most := float64(m.Encoding.RowsPerUnit)
	for _, s := range simulatedSquares(m, theta, l) {
		q.Together = append(q.Together, Squares{Bound: bound(s.together, math.Sqrt(most), float64(n), q.Noise)})
		q.Apart = append(q.Apart, Squares{Bound: bound(s.apart, 1, float64(n), q.Noise)})
		rows := slices.Concat(s.alone...)
		slices.Sort(rows)
		row := bound(rows, 1, float64(n)*float64(len(rows))/float64(max(1, len(s.alone))), q.Noise*most)
		q.Alone = append(q.Alone, Squares{Row: row, Bound: min(row*most, math.MaxFloat64)})
	}
	return &q
}

// bound is what shall count as one, so that a factor of n squares like these, rising, is known best from their sum. noise is
// that sum's standard deviation. A low bound hides how large squares are, a high one makes the noise large.
func bound(squares []float64, factor, n, noise float64) float64 {
	best, least := math.MaxFloat64, math.Inf(1)
	if len(squares) == 0 {
		return best
	}
	for _, share := range []float64{0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 1} {
		for _, longer := range []float64{1, 4} {
			one := longer * stats.Quantile(squares, share)
			low, _ := bounded(squares, 0.9*factor/one)
			high, _ := bounded(squares, 1.1*factor/one)
			_, variance := bounded(squares, factor/one)
			if ofFactor := (variance*n + noise*noise) / math.Pow(high-low, 2); one > 0 && ofFactor < least { // NaN is not
				best, least = one, ofFactor
			}
		}
	}
	return best
}

// bounded are the mean and the variance of min(1, by·x).
func bounded(list []float64, by float64) (mean, variance float64) {
	first, second := 0.0, 0.0
	for _, x := range list {
		x = math.Min(1, by*x)
		first, second = first+x, second+x*x
	}
	mean = first / float64(len(list))
	return mean, second/float64(len(list)) - mean*mean
}

// Estimate sets Effects by units that m simulates at Theta with the columns' law l, where n units are known. V is the
// factor of the squares together over that of those apart, which differ from simulated ones as the columns from their law.
// Within a declared parameter the logs are shrunk: of one group's effect there are few units.
func (q *DesignEffects) Estimate(m *models.Model, l *law.Law, n float64) {
	var logs, variances, own []float64 // of log V; own: variances of the parameters, but for a factor
	q.Effects = make([]DesignEffect, m.P)
	for j, s := range simulatedSquares(m, q.Theta, l) {
		up, ofUp := q.logFactor(q.Together[j], n, len(s.together), func(by float64) (mean, variance float64) {
			return bounded(s.together, by/q.Together[j].Bound)
		})
		down, ofDown := q.logFactor(q.Apart[j], n, len(s.apart), func(by float64) (mean, variance float64) {
			return bounded(s.apart, by/q.Apart[j].Bound)
		})
		alone, ofAlone := q.logFactor(q.Alone[j], n, len(s.alone), func(by float64) (mean, variance float64) {
			return bounded(s.aloneBy(by, q.Alone[j].Row), 1/q.Alone[j].Bound)
		})
		logs, variances, own = append(logs, up-down), append(variances, ofUp+ofDown), append(own, 1/floats.Sum(s.apart))
		q.Effects[j].Information, q.Effects[j].InformationSD = math.Exp(alone), math.Sqrt(ofAlone)
	}
	for _, p := range m.Params {
		to := p.Offset + p.Size
		stats.Shrink(logs[p.Offset:to], variances[p.Offset:to])
	}
	for j := range q.Effects {
		q.Effects[j].Value, q.Effects[j].LogSD = effectOf(logs[j], variances[j], float64(m.Encoding.RowsPerUnit))
	}
	q.Open = q.ofDeclared(m, own)
}

// ofDeclared is Open: the mean over what the variances (P) of the parameters of m give the declared ones.
func (q *DesignEffects) ofDeclared(m *models.Model, variances []float64) []float64 {
	sum, weights := make([]float64, m.P), make([]float64, m.P)
	unit, direction := make([]float64, m.P), make([]float64, m.P)
	for j, e := range q.Effects {
		clear(unit)
		unit[j] = 1
		m.DeclaredDirection(direction, unit)
		for k, x := range direction {
			if weight := x * x * variances[j]; weight > 0 && weight <= math.MaxFloat64 {
				sum[k], weights[k] = sum[k]+weight*e.LogSD, weights[k]+weight
			}
		}
	}
	for k, weight := range weights {
		if sum[k] /= weight; weight == 0 { // no simulated row has a gradient
			sum[k] = q.Effects[k].LogSD
		}
	}
	return sum
}

// leastAlike and, times the number of rows, mostAlike are the least and the largest V. Differences within a unit may vary
// less than independent rows, and all rows more than the model predicts.
const leastAlike, mostAlike = 0.25, 1.5

// effectOf is the posterior mean of V of at most so many rows, and the standard deviation of log V, if log is measured with
// this variance and each log was equally likely before.
func effectOf(log, variance, rows float64) (value, logSD float64) {
	const points = 200
	var at, values, density [points]float64
	least, most := math.Log(leastAlike), math.Log(mostAlike*rows)
	for i := range at {
		at[i] = least + (most-least)*(float64(i)+0.5)/points
		values[i], density[i] = math.Exp(at[i]), -(at[i]-log)*(at[i]-log)/(2*variance)
	}
	value, _ = stats.GridMoments(values[:], density[:])
	_, square := stats.GridMoments(at[:], density[:])
	return value, math.Sqrt(square)
}

// logFactor is the log of the factor by which the squares of n units are larger than simulated ones, and the variance of what
// is not known of it: much if none are simulated. times gives the mean and the variance of a simulated unit's squares times a
// factor. Each log is equally likely before.
func (q *DesignEffects) logFactor(s Squares, n float64, simulated int, times func(factor float64) (mean, variance float64)) (log, variance float64) {
	const points, reach = 200, 6.0
	if simulated == 0 {
		return 0, reach * reach
	}
	var at, density [points]float64
	for i := range at {
		at[i] = reach * (2*(float64(i)+0.5)/points - 1)
		mean, variance := times(math.Exp(at[i]))
		variance = q.Noise*q.Noise/(n*n) + variance*(1/n+1/float64(simulated))
		off := s.Sum/n - mean
		density[i] = -off*off/(2*variance) - math.Log(variance)/2
	}
	return stats.GridMoments(at[:], density[:])
}

// simulatedUnits are the squares of simulated units in one parameter: rising, but for alone, which has those of a unit's rows.
type simulatedUnits struct {
	together, apart []float64
	alone           [][]float64
}

// aloneBy are the sums of the squares of rows times a factor, each at most row.
func (s simulatedUnits) aloneBy(factor, row float64) []float64 {
	list := make([]float64, len(s.alone))
	for i, squares := range s.alone {
		for _, x := range squares {
			list[i] += math.Min(factor*x, row)
		}
	}
	return list
}

// simulatedRows bound the simulated units to about as many rows; at least fewestUnits are simulated.
const simulatedRows, fewestUnits = 40000, 4000

// simulatedSquares are those of units that m simulates at theta with the columns' law l, by parameter.
func simulatedSquares(m *models.Model, theta []float64, l *law.Law) []simulatedUnits {
	n := max(fewestUnits, simulatedRows/m.Encoding.RowsPerUnit)
	units, _ := simulate.Inside(m, theta, n, l, noise.NewRandom(noise.Public(0).Stream(noise.Simulation)))
	list, s := make([]simulatedUnits, m.P), newUnitSquares(m, theta)
	for unit := range slices.Chunk(units, m.Encoding.Width()) {
		if s.read(unit); s.rows == 0 || !simd.Finite(s.together) || !simd.Finite(s.apart) {
			continue
		}
		for j := range list {
			to := &list[j]
			to.together, to.apart = append(to.together, s.together[j]), append(to.apart, s.apart[j])
			to.alone = append(to.alone, slices.Clone(s.alone[j]))
		}
	}
	for _, s := range list {
		slices.Sort(s.together)
		slices.Sort(s.apart)
	}
	return list
}

// unitSquares computes the squares of units, one after the other.
type unitSquares struct {
	model           *models.Model
	machine         *graph.Machine // each row in a unit of its own
	single          []float64      // these units
	gradient        []float64
	rows            int
	together, apart []float64   // (P)
	alone           [][]float64 // (P), each of the rows
}

func newUnitSquares(m *models.Model, theta []float64) *unitSquares {
	s := &unitSquares{
		model: m, machine: graph.NewMachine(m.Likelihood, m.Encoding.RowsPerUnit), gradient: make([]float64, m.P),
		together: make([]float64, m.P), apart: make([]float64, m.P), alone: make([][]float64, m.P),
	}
	s.machine.Globals(theta, nil)
	return s
}

// read sets the squares to those of a unit, as Encoding.Width describes it.
func (s *unitSquares) read(unit []float64) {
	k := s.model.Encoding.K
	s.single, s.rows = s.single[:0], 0
	for row := range slices.Chunk(unit, k+1) {
		if row[k] == 1 {
			s.single = s.model.Encoding.AppendUnit(s.single, row[:k])
			s.rows++
		}
	}
	for j := range s.alone {
		s.together[j], s.apart[j], s.alone[j] = 0, 0, s.alone[j][:0]
	}
	if s.rows == 0 {
		return
	}
	s.machine.Records(s.single, s.model.Encoding.Width(), s.rows, nil)
	for r := range s.rows {
		s.machine.Gradient(r, s.gradient)
		for j, g := range s.gradient {
			s.together[j], s.apart[j], s.alone[j] = s.together[j]+g, s.apart[j]+g*g, append(s.alone[j], g*g)
		}
	}
	for j, sum := range s.together {
		s.together[j] = sum * sum
	}
}

// Placer puts units of several rows in the tables.
func (q *DesignEffects) Placer(m *models.Model) privacy.Placer { return designPlacer{q, m} }

type designPlacer struct {
	*DesignEffects
	model *models.Model
}

// Cells implements privacy.Placer.
func (p designPlacer) Cells() []int {
	return append([]int{p.model.Encoding.RowsPerUnit}, slices.Repeat([]int{2}, 3*len(p.Together))...)
}

// Place implements privacy.Placer. The first row of a unit has its cells.
func (p designPlacer) Place(tables []privacy.Placed, of privacy.RowRange) error {
	for _, t := range tables {
		for i := range t.Cells {
			t.Cells[i] = -1
		}
	}
	s, record, width := newUnitSquares(p.model, p.Theta), make([]float64, of.K), p.model.Encoding.Width()
	for i := of.Low; i < of.High; i++ {
		of.Row(i, record)
		if s.read(record[:width]); !of.Valid[i] || s.rows == 0 {
			continue
		}
		first := (i - of.Low) * of.Most
		tables[0].Cells[first] = s.rows - 1
		for j := range s.together {
			alone := 0.0
			for _, x := range s.alone[j] {
				alone += min(x, p.Alone[j].Row)
			}
			for k, part := range []float64{s.together[j] / p.Together[j].Bound, s.apart[j] / p.Apart[j].Bound, alone / p.Alone[j].Bound} {
				t := tables[1+k*len(s.together)+j]
				t.Cells[first], t.Parts[first] = 0, part
			}
		}
	}
	return nil
}
