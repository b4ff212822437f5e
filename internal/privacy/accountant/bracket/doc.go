// Package bracket composes privacy losses on grids, once so that the result dominates
// and once so that it is dominated: a proof that holds for any plan of grids.
//
// C bounds the L2 norm of one record's contribution, sigma is the noise over C, q the
// sampling rate, T the number of steps, eps = epsilon, L = log(dP/dQ) the privacy loss
// of a pair (P, Q), and delta(eps) = E_P[(1 - e^(eps-L))+]. docs/design/accounting.md
// has the pairs.
//
// # The two compositions
//
// Losses are put on a grid of spacing h, once so that the result dominates and once so
// that it is dominated; both are tilted by e^(theta L), composed by FFT, and read back.
//
//   - Dominating (cells.dominating). An outcome of loss l between grid points is split
//     between the two so that its P-mass and its Q-mass are kept. The original is a
//     post-processing of the split one. Mass that is cut off at the top goes to
//     infinite loss, mass that is cut off at the bottom is raised.
//   - Dominated (cells.dominated). Outcomes are merged, some at random, into groups
//     whose P- and Q-mass have exactly the ratio of a grid point: a post-processing of
//     the original. So is rounding down, which takes what nothing is left to balance.
//     Mass that is cut off is dropped. Groups are made from one end of the support to
//     the other, or from both ends towards the grid point with the most mass beside it
//     (Pair.Origin), whichever keeps more of E[e^(theta L)]. Package grids puts atoms
//     on grid points, where they stay.
//   - Both properties survive composition, so delta_lower <= delta <= delta_upper at
//     every eps. Spreading inflates the variance of a step by about h²/6, merging
//     deflates it by about h²/3: the bracket has width of second order,
//     T(theta+1)h²/4.
//
// # Several grids
//
// For q = 1e-8 the largest loss and the usual one differ by nine powers of ten. So one
// step's losses are divided into a bulk and rare losses (pairs/division.go),
// sub-measures that are each spread or merged on a grid of their own, and
//
//	(bulk + rare)^n = Σ_k binom(n, k) bulk^(n-k) rare^k
//
// is exact. Beside one grid there are two ways. Package grids takes the cheapest of the
// three that meets the wanted width:
//
//   - Blocks (blocks.go). A block of n steps is composed on the fine grid, put on the
//     coarse one in the direction of the bound, and convolved with its rare losses
//     there; blocks are composed like steps.
//   - Mixture (mixture.go). The hockey stick of the sum is read from both grids at
//     once, Σ_k Σ_j P(rare^k = l_j) delta_bulk^(n-k)(eps - l_j).
//
// # Large losses
//
// Where few, rare inclusions decide, losses from eps/10 to 50 eps contribute to delta,
// and no tilt serves them all. So these large losses are composed apart (largeloss.go).
// With limits l_0 = 1.4 eps (more where the sum of the others spreads further) and l_j =
// 2.5 l_(j-1) on single losses,
//
//	delta(eps) = delta(eps; none above l_0) + Σ_j delta(eps; some above l_(j-1), none above l_j).
//
// The terms are differences of compositions of sub-measures, (b + r)^T - b^T = Σ_(k>=1)
// binom(T, k) b^(T-k) r^k, so they are mixtures, each with a tilt and grids of its own;
// Chernoff's bound replaces a negligible term. With several segments the first one that
// has a large loss is conditioned on: those before it are limited to l_(j-1), those
// after it to l_j (up to six segments beside any Gaussian release).
//
// # Near one
//
// Where epsilon is far below what a ledger costs, delta is 1 but for E[min(1,
// e^(eps-L))] <= E[e^(s(eps-L))], s in (0, 1]. Where that is below half of the wanted
// width, it and 1 bracket delta (Composition.Below). Elsewhere near 1 the tilt is the
// inverse of the standard deviation of the sum (Composition.LeastTilt), because the tilt
// of the least Chernoff bound goes to 0.
//
// # Error budget
//
//   - discretisation (cells.go): one-sided by construction: the bracket itself
//   - upper tail of one step (Piece.Cut): P-mass <= 1e-8 delta/T goes to infinite loss
//     (upper) or is dropped (lower)
//   - normal density beyond 14 standard deviations on the far side (pairs/pair.go):
//     P-mass below 1e-44 per step
//   - mass outside the FFT window (Convolution.read): Chernoff's bound on the two
//     lattices themselves (of a block: on what it was made of), times the largest
//     value of the hockey stick; added to the upper and taken from the lower bound
//   - numbers of rare losses left out (Separated.Counts): their tilted probability, a
//     geometric series below e⁻⁶⁰ as a rule, times the same
//   - aliasing (same): only adds mass (upper); the same bound is subtracted (lower)
//   - mass of one cell (Piece.Integrate, densityRatio.cell): positive integrands on
//     Gauss panels of at most a quarter of the natural width: declared with 1e-13
//     relative, which theorem 2 carries on
//   - tilt, FFT, T-th power, inverse FFT (Convolution): theorems 1 and 2 below; by
//     Cauchy-Schwarz times the 2-norm of the hockey stick on the grid; added and
//     subtracted
//   - errors of a block (blockSum.lattice): theorem 3, carried into the composition of
//     blocks as a convolution with the others, whose 1-norm is 1
//   - masses below the rounding (blockGrid.coarsen): set to zero; their 2-norm is once
//     more that of the rounding
//   - rounding of log M(theta) and of the sums (Convolution.read): theorem 2 for log
//     M, and the factor 1 ± u(12N + 8(4 + |log M| + theta|window|)) for the recursion
//     that reads the sum
//   - reading back (tiltedSum.accumulate): a recursion of positive terms: nothing
//     cancels, for any delta
//
// # Rounding
//
// Let u = 2⁻⁵³. Assumed are IEEE arithmetic with rounding to nearest, and that math.Exp,
// Expm1, Log, Log1p, Sincos and Atan2 err by at most 4u of their value
// (TestElementaryFunctions: below 2u at random points). Fused operations round less
// often, which only helps. Underflow adds less than 1e-300. The proofs stand beside the
// code that they are about.
//
// Theorem 1 (transform). dft takes n = 2^t real numbers x, t >= 6, to coefficients whose
// error has a 2-norm of at most 5ut times their own 2-norm. No coefficient is wrong by
// more than 10 u t ‖x‖₁. The inverse has the first bound, too.
// lowFrequencies.coefficient has the second, for n >= 4096. Proof: fourier.go,
// lowfrequency.go; unitary levels add their errors (Higham 2002, Theorem 24.2), a path
// of products bounds one coefficient.
//
// Theorem 2 (composition). Let F be the transform of the masses that Lattice.tilted
// returns, their heaviest point moved to 0 and given what the others leave of 1.
// Convolution.Sequence returns the masses of Π F_p^(T_p) with an error whose 2-norm is
// at most Convolution.Noise. The masses themselves are off by at most
// Convolution.Relative, unless more losses leave the heaviest point than with
// probability Crowd. Proof: convolution.go; the relative error of log F' is multiplied
// by T, Parseval turns coefficients into masses.
//
// Theorem 3 (block). blockSum sums transforms of bulks times powers of the rare losses'
// transform, all of modulus at most 1. A bulk with k rare losses is wrong by at most
// (5ut + 3(k+2)u)‖bulk‖₂ + 5utk‖rare‖₂, and the inverse by 5ut of the sum's 2-norm:
// theorem 1, and 2.83u a product.
//
// Against 200 bits the bounds are 20 to 500 times the errors (TestTransformError,
// TestLowFrequencies, TestConvolutionNoise, TestTiltingError, TestGrowingError). Closed
// forms (Gaussian, one step of any pair) are declared with a relative error of 1e-11.
package bracket
