package core

import "d3p/internal/models/source"

// DivergenceBeta is the divergence whose score is robust against outliers.
const DivergenceBeta = "beta"

// DefaultBeta is the beta of a divergence that states none.
const DefaultBeta = 1.5

// Likelihood replaces the log likelihood in the posterior. The zero value is the log
// likelihood itself.
type Likelihood struct {
	Divergence source.Value[string]  // DivergenceBeta
	Beta       source.Value[float64] // above 1
	// Weight of every record, of a Gibbs posterior exp(weight · Σ score) · prior.
	Weight source.Value[float64]
	// Views is how often a step looks at each of its records, each time with other random
	// numbers of the record; the score is the mean. Default 1.
	Views source.Value[int]
}

// MaxViews bounds Views: the model is lowered once for every view.
const MaxViews = 64

// IsLog reports whether the score is the log likelihood.
func (l *Likelihood) IsLog() bool { return !l.IsBeta() && !l.Weight.IsSet() }

// IsBeta reports whether the score is that of a beta divergence.
func (l *Likelihood) IsBeta() bool { return l.Divergence.V == DivergenceBeta }
