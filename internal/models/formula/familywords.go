package formula

import (
	"slices"
	"strings"
)

// FamilyMeant is the family of this package that other packages and textbooks give another word; "" for
// an unknown word.
func FamilyMeant(word string) string {
	word = strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(strings.ToLower(word))
	for family, words := range familyWords {
		if slices.Contains(words, word) {
			return family
		}
	}
	return ""
}

var familyWords = map[string][]string{
	"bernoulli":                       {"binary", "logistic", "logit", "probit", "classification", "boolean", "logreg"},
	"categorical":                     {"multinomial", "multinom", "softmax", "multiclass", "nominal", "mlogit"},
	"cumulative":                      {"ordinal", "ordered", "ordered_logistic", "ordered_logit", "ordered_probit", "polr", "clm", "proportional_odds"},
	"exponential":                     {"survival", "time", "duration"},
	"log_normal":                      {"lnorm", "log_gaussian"},
	"negative_binomial":               {"nb", "nb2", "negbin", "neg_binomial", "neg_binomial_2", "nbinom", "nbinom2", "glm_nb", "overdispersed_poisson", "quasipoisson"},
	"normal":                          {"linear", "ols", "lm", "regression", "least_squares", "continuous", "numeric", "identity"},
	"piecewise_exponential":           {"cox", "coxph", "proportional_hazards"},
	"poisson":                         {"count", "counts", "rate"},
	"student_t":                       {"t", "robust", "studentt"},
	"weibull":                         {"survreg", "aft"},
	"zero_inflated_negative_binomial": {"zinb"},
	"zero_inflated_poisson":           {"zip"},
}
