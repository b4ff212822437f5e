package formula

import (
	"maps"
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/naming"
)

// family is an observation family of the formula front end: the conditions on its response,
// and its form in the core language.
type family struct {
	Name    string
	aliases []string
	types   []string // of the response column
	links   []link   // the first is the default
	// aux are the parameters besides the linear predictor, with their default priors.
	aux []auxiliary
	// scaled: the response is on its declared scale.
	scaled bool
	// relative: the linear predictor is about the logarithm of the response relative to
	// its declared scale, y/by; so a fit that starts from zero starts near the response,
	// whatever its unit.
	relative bool
	// trials: the response is a number of successes in y | trials(n).
	trials bool
	// counts: the response is a count, with a lower bound of at least 0.
	counts bool
	// effects: every level of the response except its reference has its own coefficients,
	// along the dim `effect`.
	effects bool
	// cuts: cutpoints replace the intercept.
	cuts bool
	// intervals: a log hazard for each interval between the declared `cuts:` replaces the
	// intercept.
	Intervals bool
	// note is the manual's remark on the family.
	note string
}

// link names an inverse link and the observation that it gives, an expression of eta, the
// linear predictor; trials is the number of trials, response the name of the response and
// cuts the list of cuts.
type link struct {
	Name, observe string
	// positive: the linear predictor must stay above 0, so the intercept is positive and
	// starts at 1.
	positive bool
	// ratio is the meaning of exp of a coefficient; "" if it has none of use.
	ratio string
}

// auxiliary is a parameter of the family, with its default prior. A formula for
// it predicts its logarithm or, for a probability, its log odds.
type auxiliary struct {
	name, prior string
	probability bool
	anywhere    bool   // on the whole line: a formula predicts it itself
	brms        string // the name that brms gives it
	raw         string // name of the parameter in the unit of the file, if that differs
}

// families is the table of observation families. A new one is one entry here. A response on
// the whole line is on its declared scale; counts and positive numbers are observed
// unchanged.
var families = []family{
	{
		Name: "bernoulli", types: []string{data.Binary},
		links: []link{
			{Name: "logit", observe: "bernoulli(logits=eta)", ratio: "odds ratio"},
			{Name: "probit", observe: "bernoulli(probit_cdf(eta))"},
			{Name: "cloglog", observe: "bernoulli(inv_cloglog(eta))", ratio: "hazard ratio"},
		},
	},
	{
		Name: "binomial", types: []string{data.Integer}, counts: true, trials: true,
		links: []link{
			{Name: "logit", observe: "binomial(trials, logits=eta)", ratio: "odds ratio"},
			{Name: "probit", observe: "binomial(trials, probit_cdf(eta))"},
			{Name: "cloglog", observe: "binomial(trials, inv_cloglog(eta))", ratio: "hazard ratio"},
		},
	},
	{
		Name: "beta_binomial", types: []string{data.Integer}, counts: true, trials: true,
		links: []link{
			{Name: "logit", observe: "beta_binomial(trials, kappa * sigmoid(eta), kappa * sigmoid(-eta))", ratio: "odds ratio"},
			{Name: "probit", observe: "beta_binomial(trials, kappa * probit_cdf(eta), kappa * probit_cdf(-eta))"},
		},
		aux: []auxiliary{{name: "kappa", prior: "gamma(2, 0.1)", brms: "phi"}},
	},
	{
		Name: "normal", aliases: []string{"gaussian"}, types: data.Numeric, scaled: true,
		links: []link{
			{Name: "identity", observe: "normal(eta, sigma)"},
			{Name: "log", observe: "normal(exp(eta) - response.center / response.by, sigma)", ratio: "ratio of means"},
			{Name: "tan_half", observe: "normal(2 * atan(eta), sigma)"},
		},
		aux: []auxiliary{{name: naming.Sigma, prior: "half_normal(1)", raw: "response.by * sigma"}},
	},
	{
		Name: "skew_normal", types: data.Numeric, scaled: true,
		note:  "the linear predictor is the location, not the mean",
		links: []link{{Name: "identity", observe: "skew_normal(eta, sigma, alpha)"}},
		aux:   []auxiliary{{name: naming.Sigma, prior: "half_normal(1)", raw: "response.by * sigma"}, {name: "alpha", prior: "normal(0, 4)", anywhere: true}},
	},
	{
		Name: "student_t", types: data.Numeric, scaled: true,
		links: []link{
			{Name: "identity", observe: "student_t(nu, eta, sigma)"},
			{Name: "tan_half", observe: "student_t(nu, 2 * atan(eta), sigma)"},
		},
		aux: []auxiliary{{name: naming.Sigma, prior: "half_normal(1)", raw: "response.by * sigma"}, {name: naming.Freedom, prior: "gamma(2, 0.1)"}},
	},
	{
		Name: "laplace", types: data.Numeric, scaled: true,
		links: []link{
			{Name: "identity", observe: "laplace(eta, sigma)"},
			{Name: "tan_half", observe: "laplace(2 * atan(eta), sigma)"},
		},
		aux: []auxiliary{{name: naming.Sigma, prior: "half_normal(1)", raw: "response.by * sigma"}},
	},
	{
		Name: "poisson", types: []string{data.Integer}, counts: true,
		links: []link{
			{Name: "log", observe: "poisson(log_rate=eta)", ratio: "rate ratio"},
			{Name: "softplus", observe: "poisson(softplus(eta))"},
			{Name: "sqrt", observe: "poisson(eta ^ 2)", positive: true},
			{Name: "identity", observe: "poisson(eta)", positive: true},
		},
	},
	{
		Name: "negative_binomial", types: []string{data.Integer}, counts: true,
		links: []link{
			{Name: "log", observe: "negative_binomial(phi=phi, log_mean=eta)", ratio: "rate ratio"},
			{Name: "softplus", observe: "negative_binomial(softplus(eta), phi)"},
			{Name: "sqrt", observe: "negative_binomial(eta ^ 2, phi)", positive: true},
		},
		aux: []auxiliary{{name: "phi", prior: priorDispersion, brms: "shape"}},
	},
	{
		Name: "zero_inflated_poisson", types: []string{data.Integer}, counts: true,
		note:  "zi is the share of extra zeros; the link is of the mean beside them",
		links: []link{{Name: "log", observe: "zero_inflated_poisson(zi=zi, log_rate=eta)", ratio: "rate ratio"}},
		aux:   []auxiliary{{name: "zi", prior: "beta(1, 1)", probability: true}},
	},
	{
		Name: "zero_inflated_negative_binomial", types: []string{data.Integer}, counts: true,
		note:  "zi is the share of extra zeros; the link is of the mean beside them",
		links: []link{{Name: "log", observe: "zero_inflated_negative_binomial(zi=zi, phi=phi, log_mean=eta)", ratio: "rate ratio"}},
		aux: []auxiliary{
			{name: "zi", prior: "beta(1, 1)", probability: true}, {name: "phi", prior: priorDispersion, brms: "shape"},
		},
	},
	{
		Name: "hurdle_poisson", types: []string{data.Integer}, counts: true,
		note:  "hu is the share of zeros; the link is of the mean of the count without zeros left out",
		links: []link{{Name: "log", observe: "hurdle_poisson(zi=hu, log_rate=eta)", ratio: "rate ratio"}},
		aux:   []auxiliary{{name: "hu", prior: "beta(1, 1)", probability: true}},
	},
	{
		Name: "hurdle_negative_binomial", types: []string{data.Integer}, counts: true,
		note:  "hu is the share of zeros; the link is of the mean of the count without zeros left out",
		links: []link{{Name: "log", observe: "hurdle_negative_binomial(zi=hu, phi=phi, log_mean=eta)", ratio: "rate ratio"}},
		aux: []auxiliary{
			{name: "hu", prior: "beta(1, 1)", probability: true}, {name: "phi", prior: priorDispersion, brms: "shape"},
		},
	},
	{
		Name: "gamma", types: data.Numeric, relative: true,
		links: []link{
			{Name: "log", observe: "gamma(shape, shape * exp(-eta) / response.by)", ratio: "ratio of means"},
			{Name: "softplus", observe: "gamma(shape, shape / (softplus(eta) * response.by))"},
			{Name: "inverse", observe: "gamma(shape, shape * eta / response.by)", positive: true},
			{Name: "identity", observe: "gamma(shape, shape / (eta * response.by))", positive: true},
			{Name: "inverse_squared", observe: "gamma(shape, shape * sqrt(eta) / response.by)", positive: true},
		},
		aux: []auxiliary{{name: "shape", prior: priorDispersion}},
	},
	{
		Name: "exponential", types: data.Numeric, relative: true,
		links: []link{
			{Name: "log", observe: "exponential(exp(-eta) / response.by)", ratio: "ratio of means"},
			{Name: "softplus", observe: "exponential(1 / (softplus(eta) * response.by))"},
			{Name: "inverse", observe: "exponential(eta / response.by)", positive: true},
		},
	},
	{
		Name: "log_normal", types: data.Numeric, relative: true,
		note:  "the link is of the median",
		links: []link{{Name: "identity", observe: "log_normal(eta + log(response.by), sigma)", ratio: "ratio of medians"}},
		aux:   []auxiliary{{name: naming.Sigma, prior: "half_normal(1)"}},
	},
	{
		Name: "weibull", types: data.Numeric, relative: true,
		note:  "the link is of the time scale",
		links: []link{{Name: "log", observe: "weibull(shape, log_scale=eta + log(response.by))", ratio: "ratio of times"}},
		aux:   []auxiliary{{name: "shape", prior: "log_normal(0, 0.5)"}},
	},
	{
		Name: "inverse_gaussian", types: data.Numeric, relative: true,
		links: []link{{Name: "log", observe: "inverse_gaussian(exp(eta) * response.by, shape * response.by)", ratio: "ratio of means"}},
		aux:   []auxiliary{{name: "shape", prior: "gamma(2, 0.1)", raw: "response.by * shape"}},
	},
	{
		Name: "log_logistic", types: data.Numeric, relative: true,
		note:  "the link is of the median",
		links: []link{{Name: "log", observe: "log_logistic(shape, log_scale=eta + log(response.by))", ratio: "ratio of medians"}},
		aux:   []auxiliary{{name: "shape", prior: "log_normal(0, 0.5)"}},
	},
	{
		Name: "gompertz", types: data.Numeric, relative: true,
		note:  "the link is of the hazard; shape is how fast the log hazard grows per `by`",
		links: []link{{Name: "log", observe: "gompertz(shape / response.by, log_rate=eta - log(response.by))", ratio: "hazard ratio"}},
		aux:   []auxiliary{{name: "shape", prior: "log_normal(-1, 1)", raw: "shape / response.by"}},
	},
	{
		Name: "piecewise_exponential", types: data.Numeric, Intervals: true,
		note:  "proportional hazards, constant between the declared cuts; baseline, in place of the intercept, is the log hazard of each interval per `by` of the time",
		links: []link{{Name: "log", observe: "piecewise_exponential(eta + baseline - log(response.by), cuts)", ratio: "hazard ratio"}},
		aux:   []auxiliary{{name: naming.Baseline, prior: "normal(0, 2.5)"}},
	},
	{
		Name: "beta", types: []string{data.Real},
		links: []link{
			{Name: "logit", observe: "beta(kappa * sigmoid(eta), kappa * sigmoid(-eta))", ratio: "odds ratio"},
			{Name: "probit", observe: "beta(kappa * probit_cdf(eta), kappa * probit_cdf(-eta))"},
		},
		aux: []auxiliary{{name: "kappa", prior: "gamma(2, 0.1)", brms: "phi"}},
	},
	{
		Name: "zero_one_inflated_beta", types: []string{data.Real},
		note: "zoi is the share of zeros and ones, coi that of ones among them; the link is of the mean beside them",
		links: []link{
			{Name: "logit", observe: "zero_one_inflated_beta(zoi, coi, kappa * sigmoid(eta), kappa * sigmoid(-eta))", ratio: "odds ratio"},
			{Name: "probit", observe: "zero_one_inflated_beta(zoi, coi, kappa * probit_cdf(eta), kappa * probit_cdf(-eta))"},
		},
		aux: []auxiliary{
			{name: "zoi", prior: "beta(1, 1)", probability: true}, {name: "coi", prior: "beta(1, 1)", probability: true},
			{name: "kappa", prior: "gamma(2, 0.1)", brms: "phi"},
		},
	},
	{
		Name: "categorical", types: []string{data.Category}, effects: true,
		note:  "b[x,level] for each level but the reference, and effects of groups likewise; no offsets",
		links: []link{{Name: "softmax", observe: "categorical(logits=eta @ response.contrasts)", ratio: "odds ratio"}},
	},
	{
		Name: "cumulative", types: []string{data.Ordinal}, cuts: true,
		note: "thresholds stand in place of the intercept; L is the number of levels",
		links: []link{
			{Name: "logit", observe: "ordered_logistic(eta, thresholds)", ratio: "odds ratio"},
			{Name: "probit", observe: "ordered_probit(eta, thresholds)"},
			{Name: "cloglog", observe: "ordered_cloglog(eta, thresholds)", ratio: "hazard ratio"},
		},
		aux: []auxiliary{{name: naming.Thresholds, prior: "ordered_normal(0, " + spreadOfLevels + ")"}},
	},
	{
		Name: "sratio", aliases: []string{"cratio"}, types: []string{data.Ordinal}, cuts: true,
		note:  "levels are reached one by one; thresholds stand in place of the intercept",
		links: []link{{Name: "logit", observe: "sequential_logistic(eta, thresholds)", ratio: "odds ratio"}},
		aux:   []auxiliary{{name: naming.Thresholds, prior: "normal(0, 2)"}},
	},
	{
		Name: "acat", types: []string{data.Ordinal}, cuts: true,
		note:  "each level against the one below; thresholds stand in place of the intercept",
		links: []link{{Name: "logit", observe: "adjacent_logistic(eta, thresholds)", ratio: "odds ratio"}},
		aux:   []auxiliary{{name: naming.Thresholds, prior: "normal(0, 2)"}},
	},
}

// Default priors of the formula front end: weakly informative on predictors
// and responses at their declared scales (Gelman et al. 2008, arXiv:0901.4011).
const (
	// priorDispersion is that of the shape of a gamma distribution, also of a count's hidden rate: its 90 % are .23 to
	// 32. With gamma(2, 0.1), whose 90 % are 3.6 to 47, 29 % of 14 intervals held a phi of 2 (1000 counts, ε = .3).
	priorDispersion = "log_normal(1, 1.5)"
	priorIntercept  = "normal(0, 2.5)"
	priorPositive   = "log_normal(0, 1)" // of the intercept behind a link for positive predictors
	priorB          = "normal(0, 1)"
	priorSD         = "half_normal(1)"
	priorCor        = "lkj_cholesky(2)"
)

// brms are the names that brms and R give families that have others here.
var brms = map[string]string{
	"Beta": "beta", "Gamma": "gamma", "inverse.gaussian": "inverse_gaussian", "lognormal": "log_normal", "negbinomial": "negative_binomial", "student": "student_t",
	"hurdle_negbinomial": "hurdle_negative_binomial", "zero_inflated_negbinomial": "zero_inflated_negative_binomial",
}

// BrmsNames lists the names of families that only brms and R use.
func BrmsNames() []string { return slices.Sorted(maps.Keys(brms)) }

// Rename replaces brms's names of the family and its parameters by the names here.
func (m *Model) Rename() {
	if name, ok := brms[m.Family.V]; ok {
		m.Family.V = name
	}
	f := FamilyOf(m.Family.V)
	if f == nil {
		return
	}
	for _, a := range f.aux {
		for _, p := range m.Priors {
			if p.Name.V == a.brms {
				p.Name.V = a.name
			}
		}
		for _, p := range m.Predicted {
			if p.Name.V == a.brms {
				p.Name.V = a.name
			}
		}
	}
}

// FamilyNames lists the names and aliases of the families.
func FamilyNames() []string {
	var names []string
	for _, f := range families {
		names = append(append(names, f.Name), f.aliases...)
	}
	return names
}

// FamilyOf returns the family of that name or alias.
func FamilyOf(name string) *family {
	for i, f := range families {
		if slices.Contains(append([]string{f.Name}, f.aliases...), name) {
			return &families[i]
		}
	}
	return nil
}

// AuxiliaryNames lists the parameters of families besides the linear predictor, each once.
func AuxiliaryNames() []string {
	var names []string
	for _, f := range families {
		for _, a := range f.aux {
			if !slices.Contains(names, a.name) {
				names = append(names, a.name)
			}
		}
	}
	return names
}

// replacesIntercept reports whether the family has something in place of the
// intercept.
func (f *family) replacesIntercept() bool { return f.cuts || f.Intervals }

// Link returns the family's link of that name, the default for "", or nil.
func (f *family) Link(name string) *link {
	for i, l := range f.links {
		if name == l.Name || name == "" {
			return &f.links[i]
		}
	}
	return nil
}

// LinkName is the model's link, by default that of the family.
func (m *Model) LinkName() string { return FamilyOf(m.Family.V).Link(m.Link.V).Name }

// Ratio is the meaning of exp of a coefficient under the model's link, such as odds ratio;
// "" if it has none of use, as with the identity.
func (m *Model) Ratio() string { return FamilyOf(m.Family.V).Link(m.Link.V).ratio }

// LinkNames lists the family's links.
func (f *family) LinkNames() []string {
	names := make([]string, len(f.links))
	for i, l := range f.links {
		names[i] = l.Name
	}
	return names
}
