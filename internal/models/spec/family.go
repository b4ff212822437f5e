package spec

// family is an observation family of the formula front end: what its response
// must be, and how it reads in the core language.
type family struct {
	name    string
	aliases []string
	types   []string // of the response column
	links   []link   // the first is the default
	// aux are the parameters beside the linear predictor, each with the prior
	// that it has unless the file states one.
	aux []auxiliary
	// counts says that the response is a count: its lower bound is at least 0.
	counts bool
}

// link names an inverse link and the observation that it gives, an expression
// of eta, the linear predictor.
type link struct{ name, observe string }

// auxiliary is a parameter of the family, with its default prior.
type auxiliary struct{ name, prior string }

// families is the table of observation families. A normal response is on its
// declared scale; counts are observed as they are.
var families = []family{
	{
		name: "bernoulli", types: []string{Binary},
		links: []link{{"logit", "bernoulli(logits=eta)"}},
	},
	{
		name: "normal", aliases: []string{"gaussian"}, types: []string{Real, Integer},
		links: []link{{"identity", "normal(eta, sigma)"}},
		aux:   []auxiliary{{"sigma", "half_normal(1)"}},
	},
	{
		name: "poisson", types: []string{Integer},
		links:  []link{{"log", "poisson(log_rate=eta)"}},
		counts: true,
	},
}

// Default priors of the formula front end: weakly informative on predictors
// and responses at their declared scales (Gelman et al. 2008, arXiv:0901.4011).
const (
	priorIntercept = "normal(0, 2.5)"
	priorB         = "normal(0, 1)"
	priorSD        = "half_normal(1)"
)

// familyNames lists the names and aliases of the families.
func familyNames() []string {
	var names []string
	for _, f := range families {
		names = append(append(names, f.name), f.aliases...)
	}
	return names
}

// familyOf returns the family of that name or alias.
func familyOf(name string) *family {
	for i, f := range families {
		for _, n := range append([]string{f.name}, f.aliases...) {
			if n == name {
				return &families[i]
			}
		}
	}
	return nil
}

// linkNames lists the family's links.
func (f *family) linkNames() []string {
	names := make([]string, len(f.links))
	for i, l := range f.links {
		names[i] = l.name
	}
	return names
}
