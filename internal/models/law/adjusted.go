package law

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Adjusted is the column of numbers, moved by shift of its standard deviations and then
// factor times as wide about its mean, with the given errors (ShiftSD, ScaleSD). Its cells
// end at the bounds. The cells of whole numbers stay, because a cell moved by half a number would hold parts of
// two. Their shares change (reweighted) as far as the counts allow, by halves, because moments with a long tail
// have less information than counts. The errors contain the rest.
func (c Column) Adjusted(shift, factor, shiftSD, scaleSD float64) Column {
	mean, sd := c.Moments()
	d := c.declared
	if d.Whole() && !d.Transform.IsSet() && sd > 0 {
		part := 1.0
		for ; part > leastPart; part /= 2 {
			if shares := c.reweighted(mean, sd, part*shift, math.Pow(factor, part)); shares != nil && c.countsAllow(shares) {
				c.Shares = shares
				break
			}
		}
		if part > leastPart || c.Counted != nil {
			if part <= leastPart {
				part = 0
			}
			c.ShiftSD, c.ScaleSD = math.Hypot(shiftSD, (1-part)*shift), math.Hypot(scaleSD, (1-part)*math.Log(factor))
			return c
		}
	}
	edges := make([]float64, len(c.Edges))
	low, high := c.ends()
	for i := range edges {
		x := mean + shift*sd + factor*(c.transformedEdge(i)-mean)
		edges[i] = min(max(d.Untransformed(min(max(x, d.Transformed(low)), d.Transformed(high))), low), high)
	}
	c.Counted = c.countedIn(edges)
	c.Edges, c.ShiftSD, c.ScaleSD = edges, shiftSD, scaleSD
	return c
}

// Shares may be offCounts standard deviations of its noise off a count. Less than leastPart of a change is
// none.
const offCounts, leastPart = 3, 0.1

// countsAllow reports whether shares of the cells agree with the counts, or are no farther off than those of c.
func (c *Column) countsAllow(shares []float64) bool {
	next := 0
	for _, cell := range c.Counted {
		now, before := -cell.Share, -cell.Share
		for range cell.Parts {
			now, before = now+shares[next], before+c.Shares[next]
			next++
		}
		if math.Abs(now) > max(offCounts*cell.SD, math.Abs(before)) {
			return false
		}
	}
	return true
}

// The most Newton steps of reweighted, and the error of standardised moments at which they end.
const reweightRounds, reweightError = 100, 1e-6

// reweighted are the shares nearest to those of c, by Kullback and Leibler, with its mean moved by
// shift of its standard deviations and factor times its standard deviation: p exp(a u + b v), u and v the
// mean and the mean square of the standardised numbers of a cell. They are nil if no shares have these
// moments. Newton's method on the dual, log Σ p exp(a u + b v) less a and b times the moments.
func (c *Column) reweighted(mean, sd, shift, factor float64) []float64 {
	n := len(c.Shares)
	u, v, logs := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range u {
		first, second := c.CellMoments(i)
		u[i], v[i] = (first-mean)/sd, (second-2*mean*first+mean*mean)/(sd*sd)
	}
	wantU, wantV := shift, factor*factor+shift*shift
	tilted := func(a, b float64) (shares []float64, dual float64) {
		for i := range logs {
			logs[i] = math.Log(c.Shares[i]) + a*u[i] + b*v[i]
		}
		norm := floats.LogSumExp(logs)
		shares = make([]float64, n)
		for i := range shares {
			shares[i] = math.Exp(logs[i] - norm)
		}
		return shares, norm - a*wantU - b*wantV
	}
	a, b := 0.0, 0.0
	shares, dual := tilted(a, b)
	for range reweightRounds {
		meanU, meanV := floats.Dot(shares, u), floats.Dot(shares, v)
		uu, vv, uv := 0.0, 0.0, 0.0
		for i, p := range shares {
			uu, vv, uv = uu+p*(u[i]-meanU)*(u[i]-meanU), vv+p*(v[i]-meanV)*(v[i]-meanV), uv+p*(u[i]-meanU)*(v[i]-meanV)
		}
		offU, offV, det := wantU-meanU, wantV-meanV, uu*vv-uv*uv
		switch {
		case math.Abs(offU)+math.Abs(offV) < reweightError:
			return shares
		case !(det > 1e-12*uu*vv):
			return nil
		}
		stepA, stepB := (vv*offU-uv*offV)/det, (uu*offV-uv*offU)/det
		next, least := tilted(a+stepA, b+stepB)
		for !(least <= dual+1e-12) {
			stepA, stepB = stepA/2, stepB/2
			if size := math.Abs(stepA) + math.Abs(stepB); !(size >= reweightError && size < math.Inf(1)) {
				return nil // moments that overflow have infinite steps
			}
			next, least = tilted(a+stepA, b+stepB)
		}
		a, b, shares, dual = a+stepA, b+stepB, next, least
	}
	return nil
}
