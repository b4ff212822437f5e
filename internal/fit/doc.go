// Package fit is differentially private variational inference as an outside
// analyst sees it: it plans everything from public facts (plan.go), sends
// parameters to the curator and gets noisy gradient sums back (run.go), and
// all it computes from them is post-processing (dpvi.go).
//
// Shapes: P latent scalars θ (unconstrained), V variational parameters λ,
// E standard normals η per draw, D length of the released vector (P for aligned
// gradients, 2P for vanilla ones), T steps, N declared records, q sampling rate.
package fit
