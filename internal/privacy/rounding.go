package privacy

import (
	"math"

	"d3p/internal/models/graph"
)

// RoundingAllowance bounds, in units of C, the excess of the distance of two neighbouring
// float64 sums over that of exact sums of gradients clipped to C. Batches have at most
// `batch` records of `params` numbers each. With u = 2^-53:
//
//   - A computed squared norm is a sum of at most 2·params+3 numbers that are not
//     negative, rounded at every step: at most (2·params+3)u of itself below the
//     true one (Higham 2002, section 3.1), so that a gradient scaled to norm C is
//     at most (params+2)u too long. Where parts of a gradient can cancel, engines
//     add NormSlack to the square. Root, quotient and product take a few u more.
//   - With every term at most C in L2 norm, a sum of B terms in any order is off
//     by at most about B²u·C (section 4.2), and so is its neighbour.
//
// The session widens the noise by this factor, so that the sensitivity is that of the
// computed sum.
func RoundingAllowance(batch, params int) float64 {
	const u = 0x1p-53
	b := float64(batch)
	return 2*b*b*u + (float64(params)+16)*u
}

// cancellationSlack is the least multiple of Σ M² that an engine adds to a squared
// norm where parts of a record's gradient can cancel: places that share parameters
// (M = Σ_w |X_w||Delta_w| of a term), and terms that do. A gradient clipped to C
// then has parts of at most C/√cancellationSlack.
const cancellationSlack = 0x1p-40

// NormSlack is the multiple of the size of a gradient's parts that engines add to its
// squared norm, 0 for a tape without parts that can cancel. There square and sum are off
// by some ulp of the parts, which could be large beside the square itself, and the
// clipped gradient would exceed C.
//
// A sum of n products is off by at most nu of the sum of their absolute values (Higham
// 2002, section 3.1), here at most M² = (Σ_w |X_w||Delta_w|)² <= Width·Σ_w
// |X_w|²|Delta_w|² for a term, and the mean of two terms' M² for their inner product;
// size is the sum of these bounds over terms. The slack counts the sums behind a square,
// of all terms with one delta, the sum over places, which enters twice, and the addition of terms, times one more than
// the terms that share parameters with one; but it is at least the allowance in the
// noise.
//
// All three are of the same stored numbers. So no gradient has a computed square below
// -NormSlack·size, and engines count such a record as zero.
func NormSlack(t *graph.Tape) float64 {
	if !Cancels(t) {
		return 0
	}
	longest, rows := 0, map[graph.Buf]int{}
	for i := range t.Terms {
		m := &t.Terms[i]
		rows[m.Delta] += m.Rows
		longest = max(longest, rows[m.Delta]+m.Cols+4*m.Width)
	}
	sharing, most := make([]int, len(t.Terms)), 0
	for _, pair := range t.Cross {
		for _, i := range []int{pair.I, pair.J} {
			sharing[i]++
			most = max(most, sharing[i])
		}
	}
	return max(cancellationSlack, 0x1p-53*float64((1+most)*(longest+len(t.Terms)+16)))
}

// TogetherAtMost is the largest number of records that an engine may add up before it
// adds the result to others, on a tape with parts that can cancel. It is a multiple of
// sixteen.
func TogetherAtMost(t *graph.Tape) int {
	const records, parts, unit = 256, 4096, 16
	return max(unit, min(records, parts/widest(t)/unit*unit))
}

// Cancels reports whether parts of a record's gradient can cancel.
func Cancels(t *graph.Tape) bool { return widest(t) > 1 || len(t.Cross) > 0 }

// widest is the most places of a term.
func widest(t *graph.Tape) int {
	w := 1
	for i := range t.Terms {
		w = max(w, t.Terms[i].Width)
	}
	return w
}

// cancellationAllowance is the further allowance for parts that can cancel. Until they
// cancel, the sums of n records' parts, w each, are as large as the parts. Each of the at
// most batch·w additions of one coordinate, in each of two neighbouring sums, errs by n·w·u
// of that.
func cancellationAllowance(t *graph.Tape, batch int) float64 {
	if !Cancels(t) {
		return 0
	}
	ways := float64(widest(t) * (1 + len(t.Cross)))
	most := float64(min(batch, TogetherAtMost(t))) / math.Sqrt(cancellationSlack) // of C
	return 2 * ways * float64(batch) * (most + float64(batch)) * 0x1p-53
}

// Overshoot bounds, in units of C, the excess over C of a record's effect on the float64
// sum of a batch of at most `batch` records. The noise is widened by it. Each of tapes,
// those of the separately clipped groups, adds its own excess.
func Overshoot(tapes []*graph.Tape, batch int) float64 {
	most := 0.0
	for _, t := range tapes {
		most = max(most, RoundingAllowance(batch, t.P)+cancellationAllowance(t, batch))
	}
	return most
}
