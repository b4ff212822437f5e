package synthesis

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
)

// Mixture gives tables of a fitted mixture the columns that Table 1 bought: each column is
// moved to its bought shares, and a part of the records, Share, keeps the mixture's relations.
// The others are drawn from the bought law. Share is where the mixture beside independent
// columns is nearest to that law, so the relations of a mixture that has learnt none do no harm.
type Mixture struct {
	Law   *law.Law
	Share float64 // of the last table
	// Distance is the mean total variation between tables of two columns, of the mixture beside
	// independent columns at that share, and the law's; Apart is that of independent columns alone.
	Distance, Apart float64
}

// NewMixture returns nil unless the law has shares for every column of the twin.
func NewMixture(l *law.Law, twin *simulate.Twin) *Mixture {
	for _, c := range twin.Table(0).Columns {
		if own := l.Column(c.Name.V); own == nil || own.Shares == nil {
			return nil
		}
	}
	return &Mixture{Law: l}
}

// leastPool are the fewest records that tables of two columns are counted of.
const leastPool = 5000

// Fill fills in a table. draw fills in one of the fitted mixture, with new parameters each
// time. Records that break a constraint are left out.
func (x *Mixture) Fill(twin *simulate.Twin, out simulate.Table, draw func(simulate.Table) error, random dist.Rand) error {
	n, first := len(out.Values[0]), 0
	ok := make([]bool, max(n, leastPool))
	order := make([]int, len(ok))
	for b := range order {
		order[b] = b
	}
	for round := 0; first < n; round++ {
		if round == hopeless {
			return fmt.Errorf("hardly any synthetic record meets the constraints: they contradict the bought columns")
		}
		pool := twin.Table(len(ok))
		if err := draw(pool); err != nil {
			return err
		}
		twin.Met(ok, x.calibrate(pool, round == 0, random), -1)
		for b := range order { // each draw of the parameters has its place in the pool
			c := b + int(random.Uniform()*float64(len(order)-b))
			order[b], order[c] = order[c], order[b]
		}
		for _, b := range order {
			if !ok[b] || first == n {
				continue
			}
			for k := range out.Values {
				out.Values[k][first] = pool.Values[k][b]
			}
			first++
		}
	}
	return nil
}

// calibrate moves the columns of the mixture's records to those of the law and puts records of
// the law in the place of a part; it sets Share first if that is asked. It returns the values
// by column of the law.
func (x *Mixture) calibrate(pool simulate.Table, decide bool, random dist.Rand) [][]float64 {
	n := len(pool.Values[0])
	all, drawn := make([][]float64, len(x.Law.Columns)), make([][]float64, len(x.Law.Columns))
	for i := range all {
		all[i], drawn[i] = make([]float64, n), make([]float64, n)
	}
	var places []int
	for k, c := range pool.Columns {
		i := slices.IndexFunc(x.Law.Columns, func(l law.Column) bool { return l.Name == c.Name.V })
		places, all[i] = append(places, i), pool.Values[k]
		x.Law.Columns[i].Transport(all[i], random)
	}
	x.Law.Draw(drawn, random)
	if decide {
		x.decide(drawn, all, places)
	}
	for b := range n {
		if random.Uniform() < x.Share {
			continue
		}
		for _, i := range places {
			all[i][b] = drawn[i][b]
		}
	}
	for _, i := range places {
		x.Law.Columns[i].Transport(all[i], random)
	}
	return all
}

// decide sets Share to where tables of two columns, of the mixture beside independent columns,
// are nearest to the law's.
func (x *Mixture) decide(drawn, records [][]float64, columns []int) {
	const parts = 20
	var distance [parts + 1]float64
	pairs := float64(len(columns)*(len(columns)-1)) / 2
	for j, a := range columns {
		for _, b := range columns[:j] {
			lawful, mixed := x.pair(drawn, a, b), x.pair(records, a, b)
			p, q := x.Law.Columns[a].CellShares(), x.Law.Columns[b].CellShares()
			for at := range lawful {
				apart := p[at/len(q)] * q[at%len(q)]
				for k := range distance {
					w := float64(k) / parts
					distance[k] += math.Abs(lawful[at]-w*mixed[at]-(1-w)*apart) / 2 / pairs
				}
			}
		}
	}
	best := 0
	for k := range distance {
		if distance[k] < distance[best] {
			best = k
		}
	}
	x.Share, x.Distance, x.Apart = float64(best)/parts, distance[best], distance[0]
}

// pair is the table of shares of two columns.
func (x *Mixture) pair(records [][]float64, a, b int) []float64 {
	first, second := &x.Law.Columns[a], &x.Law.Columns[b]
	width := len(second.Shares) + 1
	shares := make([]float64, (len(first.Shares)+1)*width)
	for i, v := range records[a] {
		shares[first.Cell(v)*width+second.Cell(records[b][i])] += 1 / float64(len(records[a]))
	}
	return shares
}
