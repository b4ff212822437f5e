package privacy

// RoundingAllowance bounds, in units of C, how much farther the float64 sums of
// two neighbouring batches of at most `batch` records, of `params` numbers each,
// can be apart than the exact sums of gradients clipped to C are. With u = 2^-53:
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
