package table1

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models/law"
	"d3p/internal/models/special"
	"d3p/internal/stats"
)

// groupTable is the noisy table of groups and of a column that may be constant within them.
type groupTable struct {
	column             *law.Column
	cuts               []float64   // raw
	counts             [][]float64 // by group and cell between cuts
	records, recordsSD []float64   // of each group, by its share
	noise              float64     // of a count
}

// unlikeGroup is the error of a group's number of records, as a part of it, beside the noise of its
// share: rows without a value.
const unlikeGroup = 0.05

// withinSD are the standard deviations of a score within groups that a table tells apart.
var withinSD = func() []float64 {
	list := []float64{0}
	for s := 0.01; s < 0.9; s *= 1.15 {
		list = append(list, s)
	}
	return append(list, 0.94, 0.98, 1)
}()

// Beforehand a column is constant within groups, as many are, with the probability constantWithin, and
// as spread within groups as over all records with the probability evenWithin; else its standard
// deviation within groups is uniform.
const constantWithin, evenWithin = 0.5, 0.25

// groupMeans are the mean scores that a group may have where the standard deviation within groups is
// known: the logarithm of the weight of each, its shares of cells, and the moments of the mean about it.
type groupMeans struct {
	logs, mean, square []float64
	cells              [][]float64
}

// spread sets the posterior of the score z of the column by the table: z = m_g + s e of a record in group g,
// m_g normal with the variance 1 - s², e standard normal. The posterior is over s and all m_g; s is set to
// its median, which is 0 if the column is more likely constant than not.
func (t *groupTable) spread(w *law.Within) {
	groups := len(t.counts)
	logs, means, squares := make([]float64, len(withinSD)), make([][]float64, groups), make([][]float64, groups)
	for i, s := range withinSD {
		logs[i] = math.Log(withinPrior(i))
		points := t.at(s)
		for g := range groups {
			own := make([]float64, len(points.logs))
			for k, p := range points.cells {
				own[k] = points.logs[k] + t.logLikelihood(g, p)
			}
			mean, _ := stats.GridMoments(points.mean, own)
			square, _ := stats.GridMoments(points.square, own)
			logs[i] += floats.LogSumExp(own)
			means[g], squares[g] = append(means[g], mean), append(squares[g], square)
		}
	}
	w.Mean, w.SD = make([]float64, groups), make([]float64, groups)
	for g := range groups {
		mean, _ := stats.GridMoments(means[g], logs)
		square, _ := stats.GridMoments(squares[g], logs)
		w.Mean[g], w.SD[g] = mean, math.Sqrt(max(square-mean*mean, 0))
	}
	w.Rest, w.RestSD = medianOf(withinSD, logs)
}

// withinPrior is the probability beforehand of withinSD[i].
func withinPrior(i int) float64 {
	switch last := len(withinSD) - 1; i {
	case 0:
		return constantWithin
	case last:
		return evenWithin
	default:
		return (1 - constantWithin - evenWithin) * (withinSD[i+1] - withinSD[i-1]) / 2
	}
}

// at are the means that a group may have if the standard deviation within groups is s.
func (t *groupTable) at(s float64) (x groupMeans) {
	ends := t.ends()
	add := func(log, mean, square float64, cells []float64) {
		x.logs, x.mean, x.square, x.cells = append(x.logs, log), append(x.mean, mean), append(x.square, square), append(x.cells, cells)
	}
	if s == 0 { // all records of a group are in one cell
		for k := range ends[1:] {
			if share := normalBelow(ends[k+1]) - normalBelow(ends[k]); share > leastCell {
				mean, square := normalWithin(ends[k], ends[k+1], share)
				cells := make([]float64, len(ends)-1)
				cells[k] = 1
				add(math.Log(share), mean, square, cells)
			}
		}
		return x
	}
	const reach, fine = 4, 0.01
	between := math.Sqrt(1 - s*s)
	steps := math.Ceil(reach * between / min(max(s/3, fine), max(between, fine)/3))
	mass, step := 0.0, between*reach/max(steps, 1)
	for k := -steps; k <= steps; k++ {
		z := reach * k / max(steps, 1) // the mean of a group over between
		mass += density(z)
		cells, below := make([]float64, len(ends)-1), 0.0
		for c := range cells {
			above := normalBelow((ends[c+1] - between*z) / s)
			cells[c], below = above-below, above
		}
		add(math.Log(density(z)), between*z, between*between*z*z+step*step/12, cells)
	}
	for k := range x.logs {
		x.logs[k] -= math.Log(mass)
	}
	return x
}

// ends are the normal scores of the ends of the cells.
func (t *groupTable) ends() []float64 {
	list := []float64{math.Inf(-1)}
	for _, cut := range t.cuts {
		list = append(list, special.NormalQuantile(t.column.Below(cut)))
	}
	return append(list, math.Inf(1))
}

// logLikelihood is that of the counts of group g, up to a constant, if its records have these shares
// of cells. Their number n has a normal prior about its share of all records, so the counts are normal
// about n·cells with the variance noise² + n·cells and that of n along cells.
func (t *groupTable) logLikelihood(g int, cells []float64) float64 {
	n, variance := max(t.records[g], 0), t.recordsSD[g]*t.recordsSD[g]
	square, along, length, factor := 0.0, 0.0, 0.0, 1.0
	for k, p := range cells {
		d, rest := t.noise*t.noise+n*p, t.counts[g][k]-n*p
		square += rest * rest / d
		along += p * rest / d
		length += p * p / d
		factor *= d / (t.noise * t.noise)
	}
	return -(square - variance*along*along/(1+variance*length) + math.Log(factor*(1+variance*length))) / 2
}

// medianOf is the median of the points x with these log weights, and the root of the mean square about it.
func medianOf(x, logs []float64) (median, sd float64) {
	total, mass, square := floats.LogSumExp(logs), 0.0, 0.0
	for i := range x {
		if mass += math.Exp(logs[i] - total); mass >= 0.5 {
			if median = x[i]; i > 0 && i < len(x)-1 {
				square = math.Pow(x[i+1]-x[i-1], 2) / 48 // it is uniform between the middles
			}
			break
		}
	}
	for i := range x {
		square += math.Exp(logs[i]-total) * (x[i] - median) * (x[i] - median)
	}
	return median, math.Sqrt(square)
}
