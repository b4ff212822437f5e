package table1

import (
	"math"

	"d3p/internal/models/law"
)

// setHistogram makes a histogram of the counts between cuts. It shrinks the shares towards
// those of a normal, as far as the counts do not contradict it (James and Stein 1961):
// noise in the tails moves mean and standard deviation far. The normal has the declared
// scale if the counts agree with it, else the best one. With tails, cells at the ends count
// only if noise cannot explain them.
func setHistogram(c *law.Column, of column, cuts, counts []float64, noise float64, tails bool) {
	cells := counts[:len(counts)-1]
	all := total(cells)
	c.Missing, c.MissingSD = part(counts[len(cells)], total(counts)), noise/total(counts)
	edges := append(append([]float64{of.rawLower}, cuts...), of.rawUpper)
	if of.whole {
		edges[0], edges[len(edges)-1] = of.rawLower-0.5, of.rawUpper+0.5
	}
	sd := noise / all
	normal := of.normalShares(edges, place{of.center, of.scale})
	distance := squareDistance(cells, all, normal)
	c.AsDeclared = of.scaled && distance <= agreement(len(cells))*sd*sd
	if !c.AsDeclared {
		normal = nearestNormal(of, edges, cells)
		distance = squareDistance(cells, all, normal)
	}
	own := 0.0 // weight of the counts
	if distance > 0 {
		own = max(0, 1-float64(len(cells)-2)*sd*sd/distance)
	}
	shares := make([]float64, len(cells))
	for i, x := range cells {
		shares[i] = normal[i] + own*(x/all-normal[i])
	}
	first, last := 0, len(cells)
	if tails {
		first, last = body(shares, normal, 3*sd*own)
	}
	c.Edges = edges[first : last+1]
	c.Shares = law.Simplex(shares[first:last])
	of2 := own*own + (1-own*own)*min(1, 3/float64(len(cells)))
	for range c.Shares {
		c.ShareSD = append(c.ShareSD, sd*math.Sqrt(of2))
	}
}

// agreement is the square of a distance, in units of the noise of n cells, that chance
// exceeds in 1 of 20 tables, about: the mean of chi-squared and 1.6 standard deviations.
func agreement(n int) float64 { return float64(n) + 1.6*math.Sqrt(2*float64(n)) }

// squareDistance is the squared distance of the shares of counts, which add up to all,
// from p.
func squareDistance(counts []float64, all float64, p []float64) float64 {
	sum := 0.0
	for i, x := range counts {
		sum += (x/all - p[i]) * (x/all - p[i])
	}
	return sum
}

// normalShares are the probabilities of the cells between raw edges under a normal, moved
// to the bounds.
func (c column) normalShares(edges []float64, at place) []float64 {
	p, below := make([]float64, len(edges)-1), 0.0
	for i := range p {
		above := 1.0
		if i < len(p)-1 {
			above = normalBelow((c.declared.Transformed(min(max(edges[i+1], c.rawLower), c.rawUpper)) - at.center) / at.scale)
		}
		p[i], below = above-below, above
	}
	return p
}

// nearestNormal are the probabilities of the cells between raw edges under the normal,
// moved to the bounds, that is nearest to the counts in L2.
func nearestNormal(of column, edges, counts []float64) []float64 {
	inner := make([]float64, len(edges)-2)
	for i := range inner {
		inner[i] = of.declared.Transformed(min(max(edges[i+1], of.rawLower), of.rawUpper))
	}
	all := total(counts)
	p, best := make([]float64, len(counts)), make([]float64, len(counts))
	least := math.Inf(1)
	try := func(at place) bool {
		below, distance := 0.0, 0.0
		for i := range p {
			above := 1.0
			if i < len(inner) {
				above = normalBelow((inner[i] - at.center) / at.scale)
			}
			p[i] = above - below
			below = above
			d := p[i] - counts[i]/all
			distance += d * d
		}
		if !(distance < least) {
			return false
		}
		least = distance
		copy(best, p)
		return true
	}
	at := place{of.center, of.scale}
	try(at)
	low, high := of.lower, of.upper
	if len(inner) > 0 {
		for i := range inner { // a start at every edge
			if s := (high - low) / 8; try(place{inner[i], s}) {
				at = place{inner[i], s}
			}
			if i > 0 {
				if s := 2 * (inner[i] - inner[i-1]); try(place{inner[i], s}) {
					at = place{inner[i], s}
				}
			}
		}
	}
	for step := 1.0; step > 0.01; { // pattern search
		moved := false
		for _, next := range []place{
			{at.center - step*at.scale, at.scale}, {at.center + step*at.scale, at.scale},
			{at.center, at.scale * math.Exp(step)}, {at.center, at.scale * math.Exp(-step)},
		} {
			if next.scale > (high-low)/1e4 && next.scale < 4*(high-low) && try(next) {
				at, moved = next, true
				break
			}
		}
		if !moved {
			step /= 2
		}
	}
	return best
}

// isolated is the multiple of the noise's limit that a cell beyond an empty one must hold
// to count: among a hundred cells some hold three standard deviations by chance, and one
// far out would make a column many times too wide.
const isolated = 5. / 3

// body are the cells from the first to behind the last that hold more than one in a
// thousand of a normal, or, next to such a cell, more than the noise. Beyond an empty cell
// they must hold more than `isolated` times these limits.
func body(shares, normal []float64, noise float64) (first, last int) {
	first, last = len(shares), 0
	for i := range shares {
		if normal[i] > 1e-3 {
			first, last = min(first, i), i+1
		}
	}
	if first >= last {
		return 0, len(shares)
	}
	holds := func(i int, limit float64) bool { return shares[i] > max(limit, 1e-4) }
	for i, connected := first-1, true; i >= 0; i-- {
		connected = connected && holds(i, noise)
		if connected || holds(i, isolated*noise) {
			first = i
		}
	}
	for i, connected := last, true; i < len(shares); i++ {
		connected = connected && holds(i, noise)
		if connected || holds(i, isolated*noise) {
			last = i + 1
		}
	}
	return first, last
}
