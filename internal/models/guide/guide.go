// Package guide holds the variational families q(θ; λ). A family turns standard normal
// noise into a draw θ, and a gradient with respect to θ into one with respect to λ. It is
// pure mathematics, without data and random numbers.
//
// Shapes: P latent scalars θ (unconstrained), V variational parameters λ, E standard
// normals η per draw.
package guide

import (
	"fmt"
	"strings"
)

// Guide is a reparameterised family θ = f(λ, η), η ~ N(0, I_E). In every family
// of Families the first P entries of λ are the location m = f(λ, 0).
//
// Methods may use scratch space of the guide: one goroutine at a time.
type Guide interface {
	// Name is the family's name in model files and flags.
	Name() string
	// Latent is P, the number of latent scalars.
	Latent() int
	// Size is V, the number of variational parameters.
	Size() int
	// Noise is E, the number of standard normals one draw uses.
	Noise() int
	// Init sets lambda (V) to location mean (P) and marginal standard deviation scale.
	Init(lambda, mean []float64, scale float64)
	// Draw sets theta (P) to f(lambda, eta).
	Draw(theta, lambda, eta []float64)
	// Pullback sets dst (V) to Jᵀ grad + ∇ H[q]: the ELBO's ascent gradient with
	// respect to λ, given grad (P) = ∂ log p(x, θ)/∂θ at θ = f(lambda, eta).
	// H[q] is the entropy.
	Pullback(dst, grad, lambda, eta []float64)
	// SD sets dst (P) to the marginal standard deviations.
	SD(dst, lambda []float64)
	// Precision sets dst (P) to the diagonal of the inverse covariance: the
	// curvature of log q along each coordinate.
	Precision(dst, lambda []float64)
}

// Options has further arguments of some families besides P.
type Options struct {
	Rank   int     // low_rank: number of factors R
	Blocks []Block // coordinates with separate families
	Draws  int     // sample: number of draws S
	Chains int     // sample: number of chains that they come from
}

// The names of families for every model.
const (
	MeanFieldName = "mean_field"
	FullRankName  = "full_rank"
	LowRankName   = "low_rank"
	DeltaName     = "delta"
)

// The names of families that depend on the model: Custom, which the model file writes
// itself; and the family of models with local latents, whose laws are functions of the
// record while all other parameters are points.
const (
	CustomName    = "custom"
	AmortisedName = "amortised"
)

// Family is one line of the table of variational families.
type Family struct {
	Name string
	New  func(latent int, opt Options) (Guide, error)
}

// Families returns the table of variational families. A new family is one file
// and one line here; the conformance test ranges over the table.
func Families() []Family {
	return []Family{
		{MeanFieldName, func(p int, _ Options) (Guide, error) { return NewMeanField(p), nil }},
		{FullRankName, func(p int, _ Options) (Guide, error) { return NewFullRank(p), nil }},
		{LowRankName, func(p int, o Options) (Guide, error) {
			if o.Rank < 1 || o.Rank > p {
				return nil, fmt.Errorf("guide low_rank: rank %d is not between 1 and the %d parameters", o.Rank, p)
			}
			return NewLowRank(p, o.Rank), nil
		}},
		{DeltaName, func(p int, _ Options) (Guide, error) { return NewDelta(p), nil }},
	}
}

// Names lists the names of all families.
func Names() []string {
	var names []string
	for _, f := range Families() {
		names = append(names, f.Name)
	}
	return append(names, AmortisedName, CustomName)
}

// New returns the family called name for latent parameters. A hyphen may stand for
// an underscore, as in the releases of earlier versions.
func New(name string, latent int, opt Options) (Guide, error) {
	if latent < 1 {
		return nil, fmt.Errorf("guide %s: the model has %d parameters, want at least 1", name, latent)
	}
	if len(opt.Blocks) > 0 {
		return newBlocks(name, latent, opt)
	}
	if name == SampleName {
		if opt.Draws < 1 || opt.Chains < 1 || opt.Draws%opt.Chains != 0 {
			return nil, fmt.Errorf("guide %s: %d draws of %d chains, want the same number of each, at least 1", name, opt.Draws, opt.Chains)
		}
		return NewSample(latent, opt.Draws, opt.Chains), nil
	}
	canonical := strings.ReplaceAll(name, "-", "_")
	for _, f := range Families() {
		if f.Name == canonical {
			return f.New(latent, opt)
		}
	}
	return nil, fmt.Errorf("unknown guide %q (choose one of %s)", name, strings.Join(Names(), ", "))
}

// Location is f(lambda, 0) of g, P numbers. It may share memory with lambda.
func Location(g Guide, lambda []float64) []float64 {
	if c, ok := g.(*Custom); ok {
		return c.median(lambda)
	}
	p := g.Latent()
	return lambda[:p:p]
}
