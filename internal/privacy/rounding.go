package privacy

// RoundingAllowance bounds, in units of C, how much farther the float64 sums
// of two neighbouring batches of at most `batch` records can be apart than the
// exact sums are. With every term at most C in L2 norm and unit roundoff
// u = 2^-53, a sum of B terms in any order is off by at most about B²u·C (Higham
// 2002, section 4.2), and so is its neighbour; scaling a gradient to norm C is
// off by a few u. The noise is widened by this factor, so that the sensitivity
// it is measured in is that of the computed sum.
func RoundingAllowance(batch int) float64 {
	const u = 0x1p-53
	b := float64(batch)
	return 2*b*b*u + 16*u
}
