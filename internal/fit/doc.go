// Package fit is differentially private variational inference by an outside analyst. A plan
// (package plan) is made of public facts. The loop (loop.go) sends parameters to the
// curator and gets noisy gradient sums back (run.go, iterate.go), so its results are
// post-processing. Package posterior makes the result from the releases.
//
// Shapes: P latent scalars θ (unconstrained), V variational parameters λ, E standard
// normals η per draw, D length of the released vector (P for aligned gradients, 2P for
// vanilla ones), T steps, N declared records, q sampling rate.
package fit
