// Package posterior makes a posterior of what a fit has released. It is a function
// of a public plan and of released numbers, so all of it is post-processing.
//
//	releases.go         the input
//	posterior.go        the output
//	curvature.go        the likelihood's information, measured by released gradients, and
//	                    independent normals from it
//	scores.go           simulated records' gradients, and the information matrices that they span
//	jointnormal.go      a joint normal from it
//	coupling.go         correlations of parameters with bounds
//	offsets.go          what the effects of groups share with an intercept
//	sampling.go         draws from the exact prior times a synthetic likelihood
//	synthetic.go        that likelihood: of the mean released gradient, by its moments
//	moments.go          the moments, of simulated records
//	amplitude.go        the common factor of large coefficients, by records simulated at several
//	level.go            an intercept that is hardly known, by records simulated at several
//	scarcelevels.go     levels with a hardly known number of records
//	designeffects.go    how alike rows of a unit are, and how much information they have
//
// Shapes and letters: P latent scalars θ (unconstrained), V variational parameters
// λ, S draws, N declared records, H the likelihood's information matrix, Λ the
// prior's, v̄ the variance of the noise in the mean released gradient.
package posterior

import "d3p/internal/models/guide"

// Releases are the released numbers of a fit, and what the loop computed from them.
type Releases struct {
	Steps         int         // completed steps
	Guide         guide.Guide // the family of Lambda
	Lambda        []float64   // variational parameters λ, shape (V)
	Averaged      bool        // Lambda is a mean of iterates, not the last one
	NoiseVariance []float64   // of the location, followed through the optimizer, shape (P); nil: not followed
	Gradients     GradientSums
	Trace         Trace
}

// GradientSums are sums over the steps t, each with weight w = t (from 1): of
// d = θ − m, the released likelihood gradient g, whose noise has variance τ², and
// the prior's gradient p. Early steps, far from the mode, weigh less. u is w but 0
// in the first fifth of the steps, which may be far away. The sums are empty unless
// the plan's SumsGradients.
type GradientSums struct {
	Totals []float64 `json:"totals"` // Σ u, Σ u²τ², Σ u·C and Σ u·C² of the clip norm C

	// The others have shape (P).
	Likelihood      []float64 `json:"likelihood"`       // Σ w·d·(−g)
	Prior           []float64 `json:"prior"`            // Σ w·d·(−p)
	Square          []float64 `json:"square"`           // Σ w·d²
	Noise           []float64 `json:"noise"`            // Σ w²τ²d²
	Place           []float64 `json:"place"`            // Σ u·θ
	LikelihoodSlope []float64 `json:"likelihood_slope"` // Σ u·g
	PriorSlope      []float64 `json:"prior_slope"`      // Σ u·p
	Gain            []float64 `json:"gain"`             // Σ of the optimizer's gain over the averaged steps
}

// NewGradientSums are empty sums, for P = latent.
func NewGradientSums(latent int) GradientSums {
	var s GradientSums
	for _, a := range s.Arrays() {
		*a = make([]float64, latent)
	}
	s.Totals = make([]float64, 4)
	return s
}

// Arrays lists the sums in a fixed order, for checkpoints and tapes.
func (s *GradientSums) Arrays() []*[]float64 {
	return []*[]float64{
		&s.Totals, &s.Likelihood, &s.Prior, &s.Square, &s.Noise, &s.Place, &s.LikelihoodSlope, &s.PriorSlope, &s.Gain,
	}
}

// Trace holds iterates of a fit, thinned: the guide's location after some of the
// steps. The mechanism released all of them, so the claim covers them.
type Trace struct {
	Steps []int     `json:"steps"` // 1 to T, rising
	Mean  []float64 `json:"mean"`  // [len(Steps) x P], row-major
}
