package law

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/special"
)

// between has the values of a column at each level of a group, within which it is constant or may
// be. A permutation deals out what is not known of them, from the records' distribution: a
// public one, in a drawn law another one.
type between struct {
	of    int       // the place of the group column
	score []float64 // the normal score of the value, by level; its mean
	own   []float64 // the part of it that no earlier column explains; nil: it varies
	rest  float64   // standard deviation of the score within a level
}

// replace gives records the values of their groups. Missing values stay, as do those of
// records without a group.
func (g *between) replace(c *Column, values, levels []float64, rng dist.Rand) {
	for b, level := range levels {
		if !math.IsNaN(level) && !math.IsNaN(values[b]) {
			score := g.score[int(level)]
			if g.rest > 0 {
				score += g.rest * rng.Normal()
			}
			values[b] = c.Quantile(special.NormalCDF(score))
		}
	}
}

// varying has what is known by group of a column that nothing declares constant: of the group that
// leaves it least. It is nil for others.
func (l *Law) varying(i int) (known *Within) {
	for k := range l.Groups {
		if w := &l.Groups[k]; w.Column == i && l.Columns[i].group < 0 && (known == nil || w.Rest < known.Rest) {
			known = w
		}
	}
	return known
}

// groupOf is the place of the group that tells of column i; -1 for none.
func (l *Law) groupOf(i int) int {
	if w := l.varying(i); w != nil {
		return w.Category
	}
	return l.Columns[i].group
}

// betweenOf are the values by group of a column that may vary within groups; nil if nothing is known of them.
func (l *Law) betweenOf(i int) *between {
	w := l.varying(i)
	if w == nil {
		return nil
	}
	shares := l.Columns[w.Category].levelShares()
	g := &between{of: w.Category, score: standardised(l.dealt(i, shares), shares), rest: w.Rest}
	for level, mean := range w.Mean {
		g.score[level] = mean + w.SD[level]*g.score[level]
	}
	return g
}

// order lists the columns so that those with groups come first, each after its group.
// Without groups it is the order of the file.
func (l *Law) order() []int {
	order, rank := make([]int, len(l.Columns)), make([]int, len(l.Columns))
	for i := range order {
		order[i], rank[i] = i, len(order)
	}
	for i := range l.Columns {
		for g := l.groupOf(i); g >= 0; g = l.Columns[g].group {
			if rank[g] == len(order) {
				rank[g] = 0
			}
			if rank[i] == len(order) {
				rank[i] = 0
			}
			rank[i]++
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank[i], rank[j]) })
	return order
}

// betweens are by column; nil for columns that no group tells of. root is the root of the
// correlation matrix in this order; nil: independent columns.
func (l *Law) betweens(order []int, root []float64) []*between {
	list, n := make([]*between, len(order)), len(order)
	for k, i := range order {
		at := l.Columns[i].group
		if at < 0 {
			list[i] = l.betweenOf(i)
			continue
		}
		group := &l.Columns[at]
		shares := group.levelShares()
		own := standardised(l.dealt(i, shares), shares)
		g := &between{of: at, score: slices.Clone(own), own: own}
		list[i] = g
		explained, rest, length := make([]float64, len(own)), 1.0, 1.0
		if root != nil {
			// this score contains the correlations with columns that are constant within the
			// group, too
			row := root[k*n : k*n+k+1]
			rest, length = row[k], row[k]*row[k]
			add := func(x float64, part []float64) {
				length += x * x
				for level := range part {
					explained[level] += x * part[level]
				}
			}
			for j, other := range order[:k] {
				switch {
				case other == at:
					add(row[j], middles(shares))
				case l.Columns[other].group == at:
					add(row[j], list[other].own)
				}
			}
		}
		for level := range own {
			g.score[level] = (rest*own[level] + explained[level]) / math.Sqrt(length)
		}
		for _, w := range l.Groups {
			if w.Column == i {
				g.know(w, explained, rest)
			}
		}
	}
	return list
}

// leastKnown is the largest standard deviation, in those of the column, at which the value of a
// group counts as known.
const leastKnown = 0.3

// KnowsGroups reports whether the values of groups are known, on average over records, in all
// columns that are constant within them or may be.
func (l *Law) KnowsGroups() bool {
	for i := range l.Columns {
		if w := l.varying(i); w != nil && w.Rest > 0 || l.groupOf(i) < 0 {
			continue
		}
		square := 1.0
		for _, w := range l.Groups {
			if w.Column != i {
				continue
			}
			square = 0
			for level, share := range l.Columns[w.Category].levelShares() {
				square += share * w.SD[level] * w.SD[level]
			}
		}
		if square > leastKnown*leastKnown {
			return false
		}
	}
	return true
}

// farthestScore bounds the part of a known score that no earlier column explains.
const farthestScore = 4

// know gives the levels the scores that are known, and as much of others as is not.
func (g *between) know(w Within, explained []float64, rest float64) {
	for level, mean := range w.Mean {
		g.score[level] = mean + w.SD[level]*g.score[level]
		g.own[level] = min(max((g.score[level]-explained[level])/rest, -farthestScore), farthestScore)
	}
}

// dealAnew gives groups other values as far as they are not known.
func (l *Law) dealAnew(rng dist.Rand) {
	for i := range l.Columns {
		if c := &l.Columns[i]; l.groupOf(i) >= 0 {
			c.deal = rng.Uint64()
		}
	}
}

// dealt are the normal scores in the middle of the shares, dealt out to levels by a
// permutation that follows from the column's name and its deal.
func (l *Law) dealt(i int, shares []float64) []float64 {
	deal, hashes := make([]int, len(shares)), make([]uint64, len(shares))
	for level := range deal {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d/%s", level, l.Columns[i].Name)
		if deal := l.Columns[i].deal; deal != 0 {
			fmt.Fprintf(h, "/%d", deal)
		}
		deal[level], hashes[level] = level, h.Sum64()
	}
	slices.SortFunc(deal, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	moved := make([]float64, len(shares))
	for k, level := range deal {
		moved[k] = shares[level]
	}
	scores := make([]float64, len(shares))
	for k, score := range middles(moved) {
		scores[deal[k]] = score
	}
	return scores
}

// middles are the normal scores in the middle of each share.
func middles(shares []float64) []float64 {
	scores, below := make([]float64, len(shares)), 0.0
	for k, share := range shares {
		u := min(max(below+share/2, 1e-6), 1-1e-6)
		scores[k] = special.NormalQuantile(u)
		below += share
	}
	return scores
}

// standardised has mean 0 and variance 1 over records with these shares of levels.
func standardised(x, shares []float64) []float64 {
	mean, variance := 0.0, 0.0
	for k, share := range shares {
		mean += share * x[k]
	}
	for k, share := range shares {
		variance += share * (x[k] - mean) * (x[k] - mean)
	}
	if !(variance > 0) {
		variance = 1
	}
	out := make([]float64, len(x))
	for k := range out {
		out[k] = (x[k] - mean) / math.Sqrt(variance)
	}
	return out
}

// levelShares are the shares of a column's levels, equal ones if only the declaration is
// known.
func (c *Column) levelShares() []float64 {
	if c.Shares != nil {
		return c.Shares
	}
	shares := make([]float64, len(c.declared.Levels))
	for k := range shares {
		shares[k] = 1 / float64(len(shares))
	}
	return shares
}
