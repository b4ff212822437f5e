package expr

import "slices"

// elsewhere lists distributions and functions of Stan, NumPyro, PyMC and R under the names they have here.
var elsewhere = []struct {
	here  string
	there []string
}{
	{"normal(loc, scale)", []string{"gaussian", "norm", "dnorm"}},
	{"mvn(loc, cholesky)", []string{"multi_normal", "multi_normal_cholesky", "multivariate_normal"}},
	{"inverse_gamma(shape, scale)", []string{"inv_gamma"}},
	{"laplace(loc, scale)", []string{"double_exponential"}},
	{"lkj_cholesky(concentration)", []string{"lkj_corr_cholesky"}},
	{"bernoulli(logits=...)", []string{"bernoulli_logit"}},
	{"binomial(trials, logits=...)", []string{"binomial_logit"}},
	{"categorical(logits=...)", []string{"categorical_logit"}},
	{"poisson(log_rate=...)", []string{"poisson_log"}},
	{"negative_binomial(mean, phi)", []string{"neg_binomial_2", "nbinom"}},
	{"negative_binomial(log_mean=..., phi=...)", []string{"neg_binomial_2_log"}},
	{"sigmoid(x)", []string{"inv_logit", "expit", "plogis", "invlogit", "logistic"}},
	{"log_sigmoid(x)", []string{"log_inv_logit"}},
	{"probit_cdf(x)", []string{"Phi", "pnorm", "norm_cdf"}},
	{"where(condition, x, y)", []string{"ifelse", "if_else"}},
	{"max(x, y)", []string{"fmax", "maximum"}},
	{"min(x, y)", []string{"fmin", "minimum"}},
	{"a @ b", []string{"matmul", "dot_product"}},
	{"log(x)", []string{"ln"}},
}

// writtenHere is the hint for a name of another language; "" for other names.
func writtenHere(name string) string {
	for _, f := range elsewhere {
		if slices.Contains(f.there, name) {
			return "write " + f.here
		}
	}
	return ""
}
