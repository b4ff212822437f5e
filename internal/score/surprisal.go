package score

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// Surprisals are the numbers of rows by surprisal, -log p(row | θ) in nats, where the rows of a unit count as one
// together, bought after the last step at θ where the fit ended. Clipping hides a few records far from what the model
// predicts, which would decide about a fit without privacy; these counts show them. A row far out in
// a predictor has a cell of that predictor instead. A unit with a row far out counts as that row.
type Surprisals struct {
	Noise float64 `json:"noise"` // standard deviation of each count's noise
	// Theta is θ on the unconstrained scale of the declared parameters, shape (P).
	Theta []float64 `json:"theta,omitempty"`
	Edges []float64 `json:"edges,omitempty"` // of the cells, rising; the first and the last cell have no other end
	// Far are the predictors that have cells after those of the edges, see FarDistances.
	Far []FarPredictor `json:"far,omitempty"`
	// Counts are the noisy numbers of units in the cells; nil before they are bought.
	Counts []float64 `json:"counts,omitempty"`
}

// The edges of the cells are quantiles of simulated surprisals, and two beyond which there is hardly a
// simulated unit: one nat more has a probability of about 1/e. A normal error is 4.4 and 7.2 standard
// deviations long there.
const edgeRecords = 20000

var edgeShares, beyond = []float64{0.5, 0.9, 0.99, 0.999}, []float64{4, 20}

// NewSurprisals are counts at the price of a Gaussian with parameter mu.
func NewSurprisals(mu float64, rel event.Relation) *Surprisals {
	one := (&Surprisals{Noise: 1}).Events(rel)[0].(event.Gaussian).NoiseMultiplier
	return &Surprisals{Noise: 1 / (mu * one)}
}

// Events is the event of the counts; none for nil.
func (q *Surprisals) Events(rel event.Relation) []event.Event {
	if q == nil {
		return nil
	}
	return []event.Event{privacy.CountsEvent([]privacy.Partition{{Noise: q.Noise}}, rel)}
}

// At are the counts to buy at theta (P), with edges by records of m whose columns have the law l; without
// edges, in one cell, if no simulated record has a surprisal.
func (q Surprisals) At(m *models.Model, theta []float64, l *law.Law) *Surprisals {
	rng := noise.NewRandom(noise.Public(0).Stream(noise.Simulation))
	records := simulate.Records(m, theta, edgeRecords, l, rng)
	list := slices.DeleteFunc(surprisals(m, theta, records), func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) })
	slices.Sort(list)
	q.Edges, q.Theta, q.Far = nil, make([]float64, m.P), farPredictors(m, records)
	m.Declared(q.Theta, theta)
	if len(list) == 0 {
		return &q
	}
	for _, share := range edgeShares {
		q.Edges = append(q.Edges, stat.Quantile(share, stat.Empirical, list, nil))
	}
	last := q.Edges[len(q.Edges)-1]
	for _, nats := range beyond {
		q.Edges = append(q.Edges, last+nats)
	}
	return &q
}

// Placer puts units in the cells by their surprisal at theta (P) under m, Theta in the coordinates of m.
func (q *Surprisals) Placer(m *models.Model, theta []float64) privacy.Placer {
	places, ok := q.places(m)
	if !ok {
		panic("score: the model has not the predictors of the surprisals")
	}
	return surprisalPlacer{q, m, theta, places}
}

type surprisalPlacer struct {
	*Surprisals
	model  *models.Model
	theta  []float64
	places []int
}

// Cells implements privacy.Placer.
func (p surprisalPlacer) Cells() []int { return []int{p.cells()} }

// cells is the number of all cells.
func (q *Surprisals) cells() int { return q.firstFar(len(q.Far)) }

// Place implements privacy.Placer. Of a unit with a row far out, in a predictor or by its surprisal, only that row has a
// cell, the one that is farthest, predictors first. Of other units all rows with a surprisal have cells.
func (p surprisalPlacer) Place(tables []privacy.Placed, of privacy.RowRange) error {
	all, k, cells := rowsOf(p.model, of), p.model.Encoding.K, tables[0].Cells
	var valid []float64
	for i := range all.N {
		if all.Valid[i] {
			valid = append(valid, all.Data[i*k:(i+1)*k]...)
		}
	}
	list := surprisals(p.model, p.theta, valid)
	for first := 0; first < all.N; first += of.Most {
		farthest, alone, distance := -1, 0, 0.0
		most := p.farOut()
		for i := first; i < first+of.Most; i++ {
			cells[i] = -1
			if !all.Valid[i] {
				continue
			}
			x := list[0]
			list = list[1:]
			if math.IsNaN(x) {
				continue
			}
			cells[i] = p.cell(x)
			if cell, d := p.farCell(all.Data[i*k:(i+1)*k], p.places); d > distance {
				farthest, alone, distance = i, cell, d
			} else if x > most && distance == 0 {
				farthest, alone, most = i, p.cell(x), x
			}
		}
		if farthest >= 0 {
			for i := first; i < first+of.Most; i++ {
				cells[i] = -1
			}
			cells[farthest] = alone
		}
	}
	return nil
}

// farOut is the surprisal above which a row is far out: that of the last cells.
func (q *Surprisals) farOut() float64 {
	if len(q.Edges) < len(beyond) {
		return math.Inf(1)
	}
	return q.Edges[len(q.Edges)-len(beyond)]
}

// cell is the cell of a surprisal.
func (q *Surprisals) cell(x float64) int { return sort.SearchFloat64s(q.Edges, x) }

// surprisals are those of rows [n x Encoding.K] at theta (P), each alone in its unit.
func surprisals(m *models.Model, theta, rows []float64) (list []float64) {
	const batch = 400
	k, width := m.Encoding.K, m.Encoding.Width()
	var units []float64
	machine := graph.NewMachine(m.Likelihood, batch)
	machine.Globals(theta, nil)
	for ; len(rows) > 0; rows = rows[min(len(rows), batch*k):] {
		n := min(batch, len(rows)/k)
		units = units[:0]
		for row := range slices.Chunk(rows[:n*k], k) {
			units = m.Encoding.AppendUnit(units, row)
		}
		machine.Records(units, width, n, nil)
		for _, x := range machine.Loss()[:n] {
			list = append(list, -x)
		}
	}
	return list
}

// Expected are the shares of the cells among simulated rows, and their variances, with rows at
// draws of the parameters of m, which has the predictors of q, and laws that the columns may have by l.
func (q *Surprisals) Expected(m *models.Model, draws func(k int) []float64, l *law.Law, tables, records int) (mean, variance []float64) {
	rng := noise.NewRandom(noise.Public(0).Stream(noise.Simulation))
	n, width := q.cells(), m.Encoding.K
	places, _ := q.places(m)
	mean, variance = make([]float64, n), make([]float64, n)
	for k := range tables {
		own := make([]float64, n)
		rows := simulate.Records(m, draws(k), records, l.Drawn(rng), rng)
		for i, x := range surprisals(m, q.Theta, rows) {
			switch cell, distance := q.farCell(rows[i*width:(i+1)*width], places); {
			case math.IsNaN(x):
			case distance > 0:
				own[cell] += 1 / float64(records)
			default:
				own[q.cell(x)] += 1 / float64(records)
			}
		}
		for c, share := range own {
			mean[c] += share / float64(tables)
			variance[c] += share * share / float64(tables)
		}
	}
	for c, x := range mean {
		variance[c] = math.Max(0, variance[c]-x*x)
	}
	return mean, variance
}
