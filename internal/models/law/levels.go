package law

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/marginals"
	"d3p/internal/models/special"
)

// Pair is the table of two coded columns: the share of each combination of their levels.
type Pair struct {
	Of [2]int `json:"of"` // columns
	// Shares are [levels of the first x levels of the second], SD the noise of each.
	Shares []float64 `json:"shares"`
	SD     float64   `json:"sd"`
}

// levels draws the coded columns, and the scores of the others given them: the general
// location model (Olkin and Tate 1961, doi:10.1214/aoms/1177705052). The coded columns
// have the distribution of largest entropy with the tables of Pairs. Every other score is
// a sum of effects of their levels and a normal with the rest of the covariance.
type levels struct {
	columns []Column
	table   [][]int32 // by coded column: the levels of tableRecords records
	rest    []int     // the other columns
	// shift is the part of a score that the levels explain, by record of the table and
	// column of rest. root is the lower root of the covariance of the remainder.
	shift, root []float64
	// groups are what is known by group, by column of rest; nil for nothing.
	groups []*between
	// below is the share of the scores below the points of a grid, by column of rest.
	below [][]float64
}

// tableRecords is the number of records that represent the joint distribution of levels,
// mostCells the number of cells of its cliques.
const tableRecords, mostCells = 8192, 30000

// leastRest is the least part of a direction of scores that no level explains.
const leastRest = 0.01

// Grid of levels.below.
const gridReach, gridPoints = 6.0, 241

// shared computes levels and the mover once for all copies of a law.
type shared struct {
	once   sync.Once
	levels *levels

	moverOnce sync.Once
	mover     *mover
}

// byLevels draws records by levels; nil if no column is coded.
func (l *Law) byLevels() *levels {
	if len(l.Coded) == 0 {
		return nil
	}
	if l.shared == nil {
		return l.cautious().newLevels()
	}
	l.shared.once.Do(func() { l.shared.levels = l.cautious().newLevels() })
	return l.shared.levels
}

// newLevels is the byLevels of a law with the shares to draw.
func (l *Law) newLevels() *levels {
	v := &levels{columns: l.Columns, table: l.levelTable()}
	for _, i := range l.order() {
		if !slices.Contains(l.Coded, i) {
			v.rest, v.groups = append(v.rest, i), append(v.groups, l.betweenOf(i))
		}
	}
	k := len(v.rest)
	effects := l.levelEffects(v.table, v.rest)
	for i, g := range v.groups {
		if g == nil {
			continue
		}
		if c := slices.Index(l.Coded, g.of); c >= 0 { // the group is known better
			clear(effects[i][c])
		}
	}
	v.shift = make([]float64, tableRecords*k)
	for r := range tableRecords {
		for c, column := range v.table {
			for i := range k {
				v.shift[r*k+i] += effects[i][c][column[r]]
			}
		}
	}
	mean, explained := make([]float64, k), make([]float64, k*k)
	for r := range tableRecords {
		for i, x := range v.shift[r*k : r*k+k] {
			mean[i] += x / tableRecords
		}
	}
	for r := range tableRecords {
		row := v.shift[r*k : r*k+k]
		for i := range row {
			row[i] -= mean[i]
			for j := range i + 1 {
				explained[i*k+j] += row[i] * row[j] / tableRecords
			}
		}
	}
	n := len(l.Columns)
	covariance := make([]float64, k*k)
	for i, a := range v.rest {
		for j, b := range v.rest[:i+1] {
			x := 0.0
			if i == j {
				x = 1
			} else if l.Correlation != nil {
				x = l.Correlation[a*n+b]
			}
			covariance[i*k+j], covariance[j*k+i] = x-explained[i*k+j], x-explained[i*k+j]
		}
	}
	rest := spectral(covariance, k, func(x float64, _ []float64) float64 { return max(x, leastRest) })
	v.root = cholesky(rest, k)
	for i := range k {
		v.below = append(v.below, v.scoresBelow(i, math.Sqrt(rest[i*k+i])))
	}
	return v
}

// scoresBelow is the share of the scores of column i of rest below each point of the grid:
// every shift counts as the two points next to it, so that their mean is the shift.
func (v *levels) scoresBelow(i int, sd float64) []float64 {
	k := len(v.rest)
	weights := make([]float64, gridPoints)
	for r := range tableRecords {
		p, part := gridPlace(v.shift[r*k+i])
		weights[p] += (1 - part) / tableRecords
		weights[p+1] += part / tableRecords
	}
	const step = 2 * gridReach / (gridPoints - 1)
	below := make([]float64, 2*gridPoints-1) // share of a normal below (index - gridPoints + 1) steps
	for d := range below {
		below[d] = special.NormalCDF(step * float64(d-gridPoints+1) / sd)
	}
	list := make([]float64, gridPoints)
	for p, weight := range weights {
		if weight > 0 {
			floats.AddScaled(list, weight, below[gridPoints-1-p:][:gridPoints])
		}
	}
	return list
}

// gridPlace is the point of the grid below a score and the part of a step beyond it, for
// scores outside that of the grid's end.
func gridPlace(score float64) (p int, part float64) {
	at := (score/gridReach + 1) / 2 * (gridPoints - 1)
	p = int(min(max(at, 0), gridPoints-2))
	return p, min(max(at-float64(p), 0), 1)
}

// rank is the share of the scores of column i of rest below score.
func (v *levels) rank(i int, score float64) float64 {
	p, part := gridPlace(score)
	return v.below[i][p] + part*(v.below[i][p+1]-v.below[i][p])
}

// draw fills the values of one record, see Law.Draw. z is [columns of rest].
func (v *levels) draw(coded []int, values [][]float64, b int, z []float64, uniform, normal func() float64) {
	r := min(int(uniform()*tableRecords), tableRecords-1)
	for c, i := range coded {
		values[i][b] = float64(v.table[c][r])
	}
	k := len(v.rest)
	for i := range z {
		z[i] = normal()
	}
	for i, column := range v.rest {
		score := v.shift[r*k+i]
		for j, x := range v.root[i*k : i*k+i+1] {
			score += x * z[j]
		}
		rank := v.rank(i, score)
		if g := v.groups[i]; g != nil {
			rank = special.NormalCDF(g.score[int(values[g.of][b])] + g.rest*score)
		}
		values[column][b] = v.columns[column].Quantile(rank)
	}
}

// levelTable are records of the distribution of largest entropy of the coded columns with
// the tables of Pairs. If the cliques would have more than mostCells it leaves out tables,
// the least informative first.
func (l *Law) levelTable() [][]int32 {
	domain := make(marginals.Domain, len(l.Coded))
	place := make(map[int]int)
	for c, i := range l.Coded {
		domain[c], place[i] = len(l.Columns[i].levelShares()), c
	}
	var sets []marginals.Set
	var taken []marginals.Measurement
	covered := make([]bool, len(domain))
	for _, k := range l.knownPairs(place) {
		if more := append(slices.Clone(sets), k.Set); k.information > 0 && marginals.Size(domain, more, nil, mostCells) <= mostCells {
			sets, taken = more, append(taken, k.Measurement)
			covered[k.Set[0]], covered[k.Set[1]] = true, true
		}
	}
	for c, i := range l.Coded {
		if !covered[c] {
			taken = append(taken, l.counts(marginals.Set{c}, l.Columns[i].levelShares()))
		}
	}
	var tables []marginals.Table
	for _, m := range taken {
		tables = append(tables, m.Table)
	}
	tree, err := marginals.NewTree(domain, tables, nil, mostCells, 1)
	if err != nil {
		panic("law: " + err.Error())
	}
	defer tree.Close()
	tree.Estimate(taken, treeIterations)
	tree.Infer()
	return tree.Sample(tableRecords, &splitMix{}, false)
}

// knownPair is the table of two columns, with its information beyond that of the single
// columns.
type knownPair struct {
	marginals.Measurement
	information float64
}

// counts are shares of a set of columns as counts of all records.
func (l *Law) counts(set marginals.Set, shares []float64) marginals.Measurement {
	m := marginals.Measurement{Table: marginals.Table{Set: set}, Variance: 1, Trust: 1}
	for _, x := range shares {
		m.Counts = append(m.Counts, x*l.Records)
	}
	return m
}

// knownPairs are the tables of pairs, the most informative first; place is that of a column
// in the domain.
func (l *Law) knownPairs(place map[int]int) (list []knownPair) {
	for _, p := range l.Pairs {
		first, second := l.Columns[p.Of[0]].levelShares(), l.Columns[p.Of[1]].levelShares()
		table, information := p.raked(first, second)
		a, b := place[p.Of[0]], place[p.Of[1]]
		if a > b {
			a, b, table = b, a, transposed(table, len(first), len(second))
		}
		list = append(list, knownPair{l.counts(marginals.Set{a, b}, table), information})
	}
	slices.SortStableFunc(list, func(x, y knownPair) int {
		switch {
		case x.information > y.information:
			return -1
		case x.information < y.information:
			return 1
		}
		return 0
	})
	return list
}

// treeIterations bounds the iterations of the fit of the joint distribution.
const treeIterations = 60

func transposed(x []float64, rows, columns int) []float64 {
	out := make([]float64, len(x))
	for i := range rows {
		for j := range columns {
			out[j*rows+i] = x[i*columns+j]
		}
	}
	return out
}

// effectsRidge keeps the effects of levels apart that always come together.
const effectsRidge = 0.01

// levelEffects are the effects of levels on the scores of the columns rest, by column of
// rest, coded column and level: the least squares that agree with the means of Within.
func (l *Law) levelEffects(table [][]int32, rest []int) [][][]float64 {
	start, size := make([]int, len(table)), 0
	for c, i := range l.Coded {
		start[c] = size
		size += len(l.Columns[i].levelShares())
	}
	square := make([]float64, size*size)
	for r := range tableRecords {
		for c := range table {
			for d := range table {
				square[(start[c]+int(table[c][r]))*size+start[d]+int(table[d][r])] += 1. / tableRecords
			}
		}
	}
	share := make([]float64, size)
	for j := range size {
		share[j] = square[j*size+j]
		square[j*size+j] += effectsRidge*share[j] + 1e-9
	}
	root := cholesky(square, size)
	var effects [][][]float64
	for _, i := range rest {
		target := make([]float64, size)
		for _, w := range l.Within {
			if c := slices.Index(l.Coded, w.Category); w.Column == i && c >= 0 {
				for level, mean := range w.shrunk(share[start[c]:]) {
					target[start[c]+level] = mean * share[start[c]+level]
				}
			}
		}
		solve(root, size, target)
		byColumn := make([][]float64, len(table))
		for c, coded := range l.Coded {
			byColumn[c] = target[start[c] : start[c]+len(l.Columns[coded].levelShares())]
		}
		effects = append(effects, byColumn)
	}
	return effects
}

// solve sets x to (root rootᵀ)⁻¹ x, root the lower triangular root [n x n].
func solve(root []float64, n int, x []float64) {
	for i := range n {
		for j := range i {
			x[i] -= root[i*n+j] * x[j]
		}
		x[i] /= root[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= root[j*n+i] * x[j]
		}
		x[i] /= root[i*n+i]
	}
}

// splitMix is a generator of fixed numbers (Steele et al. 2014,
// doi:10.1145/2660193.2660195): a law is drawn in the same way in every run.
type splitMix struct{ state uint64 }

// Uniform implements marginals.Random.
func (s *splitMix) Uniform() float64 {
	s.state += 0x9e3779b97f4a7c15
	x := s.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

// Uint64 implements dist.Rand.
func (s *splitMix) Uint64() uint64 { return uint64(s.Uniform()*(1<<53)) << 11 }

// Normal implements dist.Rand.
func (s *splitMix) Normal() float64 {
	return special.NormalQuantile(max(s.Uniform(), 0x1p-54))
}
