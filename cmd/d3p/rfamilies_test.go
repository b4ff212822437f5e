package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/internal/models"
	"d3p/internal/models/formula"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// A likelihood is one family under one link, as R computes it.
type likelihood struct {
	family, link string
	response     string // the type of the column y, with its bounds or levels
	truth        string // priors around the parameters of the simulated records
	auxiliary    string // the parameters beside the linear predictor
	start        string // about their true values
	density      string // R's log density of y: eta is p[1] + p[2] * x
}

const (
	rReal     = "real, lower: -1000, upper: 1000, scale: {center: 1, by: 2}"
	rPositive = "real, lower: 1e-6, upper: 1e6, scale: {center: 0, by: 2}"
	rCount    = "integer, lower: 0, upper: 100000"
	rTen      = "integer, lower: 0, upper: 10"
	rOrdered  = "ordinal, levels: [l1, l2, l3, l4]"
	rLine     = "Intercept: \"normal(0.3, 1e-3)\", b: \"normal(0.4, 1e-3)\""
	rMany     = "Intercept: \"normal(1.5, 1e-3)\", b: \"normal(0.4, 1e-3)\""   // zeros tell the share of extra ones
	rAbove    = "Intercept: \"log_normal(1, 1e-3)\", b: \"normal(0.2, 1e-3)\"" // eta stays above 0
	rSteps    = "b: \"normal(0.4, 1e-3)\""
)

// inR are the families with their links. z is y on its declared scale, w is y / by.
var inR = []likelihood{
	{"bernoulli", "logit", "binary, levels: [\"0\", \"1\"]", rLine, "", "", "dbinom(y, 1, plogis(eta), log = TRUE)"},
	{"bernoulli", "probit", "binary, levels: [\"0\", \"1\"]", rLine, "", "", "dbinom(y, 1, pnorm(eta), log = TRUE)"},
	{"bernoulli", "cloglog", "binary, levels: [\"0\", \"1\"]", rLine, "", "", "dbinom(y, 1, 1 - exp(-exp(eta)), log = TRUE)"},
	{"binomial", "logit", rTen, rLine, "", "", "dbinom(y, 10, plogis(eta), log = TRUE)"},
	{"binomial", "probit", rTen, rLine, "", "", "dbinom(y, 10, pnorm(eta), log = TRUE)"},
	{"binomial", "cloglog", rTen, rLine, "", "", "dbinom(y, 10, 1 - exp(-exp(eta)), log = TRUE)"},
	{"beta_binomial", "logit", rTen, rLine, "kappa", "6", "lchoose(10, y) + lbeta(y + p[3] * plogis(eta), 10 - y + p[3] * plogis(-eta)) - lbeta(p[3] * plogis(eta), p[3] * plogis(-eta))"},
	{"beta_binomial", "probit", rTen, rLine, "kappa", "6", "lchoose(10, y) + lbeta(y + p[3] * pnorm(eta), 10 - y + p[3] * pnorm(-eta)) - lbeta(p[3] * pnorm(eta), p[3] * pnorm(-eta))"},
	{"normal", "identity", rReal, rLine, "sigma", "0.5", "dnorm(z, eta, p[3], log = TRUE)"},
	{"normal", "log", rReal, rLine, "sigma", "0.5", "dnorm(w, exp(eta), p[3], log = TRUE)"},
	{"normal", "tan_half", rReal, rLine, "sigma", "0.5", "dnorm(z, 2 * atan(eta), p[3], log = TRUE)"},
	{"skew_normal", "identity", rReal, rLine, "sigma alpha", "0.5 3", "log(2 / p[3]) + dnorm((z - eta) / p[3], log = TRUE) + pnorm(p[4] * (z - eta) / p[3], log.p = TRUE)"},
	{"student_t", "identity", rReal, rLine, "sigma nu", "0.5 4", "dt((z - eta) / p[3], p[4], log = TRUE) - log(p[3])"},
	{"student_t", "tan_half", rReal, rLine, "sigma nu", "0.5 4", "dt((z - 2 * atan(eta)) / p[3], p[4], log = TRUE) - log(p[3])"},
	{"laplace", "identity", rReal, rLine, "sigma", "0.5", "-abs(z - eta) / p[3] - log(2 * p[3])"},
	{"laplace", "tan_half", rReal, rLine, "sigma", "0.5", "-abs(z - 2 * atan(eta)) / p[3] - log(2 * p[3])"},
	{"poisson", "log", rCount, rLine, "", "", "dpois(y, exp(eta), log = TRUE)"},
	{"poisson", "softplus", rCount, rLine, "", "", "dpois(y, log1p(exp(eta)), log = TRUE)"},
	{"poisson", "sqrt", rCount, rAbove, "", "", "dpois(y, eta^2, log = TRUE)"},
	{"poisson", "identity", rCount, rAbove, "", "", "dpois(y, eta, log = TRUE)"},
	{"negative_binomial", "log", rCount, rLine, "phi", "2", "dnbinom(y, size = p[3], mu = exp(eta), log = TRUE)"},
	{"negative_binomial", "softplus", rCount, rLine, "phi", "2", "dnbinom(y, size = p[3], mu = log1p(exp(eta)), log = TRUE)"},
	{"negative_binomial", "sqrt", rCount, rAbove, "phi", "2", "dnbinom(y, size = p[3], mu = eta^2, log = TRUE)"},
	{"zero_inflated_poisson", "log", rCount, rLine, "zi", "0.3", "log(p[3] * (y == 0) + (1 - p[3]) * dpois(y, exp(eta)))"},
	{"zero_inflated_negative_binomial", "log", rCount, rMany, "zi phi", "0.3 2", "log(p[3] * (y == 0) + (1 - p[3]) * dnbinom(y, size = p[4], mu = exp(eta)))"},
	{"hurdle_poisson", "log", rCount, rLine, "hu", "0.3", "ifelse(y == 0, log(p[3]), log1p(-p[3]) + dpois(y, exp(eta), log = TRUE) - log1p(-dpois(0, exp(eta))))"},
	{"hurdle_negative_binomial", "log", rCount, rMany, "hu phi", "0.3 2", "ifelse(y == 0, log(p[3]), log1p(-p[3]) + dnbinom(y, size = p[4], mu = exp(eta), log = TRUE) - log1p(-dnbinom(0, size = p[4], mu = exp(eta))))"},
	{"gamma", "log", rPositive, rLine, "shape", "2", "dgamma(w, p[3], p[3] / exp(eta), log = TRUE)"},
	{"gamma", "softplus", rPositive, rLine, "shape", "2", "dgamma(w, p[3], p[3] / log1p(exp(eta)), log = TRUE)"},
	{"gamma", "inverse", rPositive, rAbove, "shape", "2", "dgamma(w, p[3], p[3] * eta, log = TRUE)"},
	{"gamma", "identity", rPositive, rAbove, "shape", "2", "dgamma(w, p[3], p[3] / eta, log = TRUE)"},
	{"gamma", "inverse_squared", rPositive, rAbove, "shape", "2", "dgamma(w, p[3], p[3] * sqrt(eta), log = TRUE)"},
	{"exponential", "log", rPositive, rLine, "", "", "dexp(w, exp(-eta), log = TRUE)"},
	{"exponential", "softplus", rPositive, rLine, "", "", "dexp(w, 1 / log1p(exp(eta)), log = TRUE)"},
	{"exponential", "inverse", rPositive, rAbove, "", "", "dexp(w, eta, log = TRUE)"},
	{"log_normal", "identity", rPositive, rLine, "sigma", "0.5", "dlnorm(w, eta, p[3], log = TRUE)"},
	{"weibull", "log", rPositive, rLine, "shape", "2", "dweibull(w, p[3], exp(eta), log = TRUE)"},
	{"inverse_gaussian", "log", rPositive, rLine, "shape", "2", "0.5 * log(p[3] / (2 * pi * w^3)) - p[3] * (w - exp(eta))^2 / (2 * exp(2 * eta) * w)"},
	{"log_logistic", "log", rPositive, rLine, "shape", "2", "dlogis(log(w), eta, 1 / p[3], log = TRUE) - log(w)"},
	{"gompertz", "log", rPositive, rLine, "shape", "0.7", "eta + p[3] * w - exp(eta) * expm1(p[3] * w) / p[3]"},
	{"piecewise_exponential", "log", rPositive, rSteps, "baseline", "0.3 0.3 0.3",
		"{ r <- exp(p[1] * x); p[1] * x + p[2 + (y >= 0.5) + (y >= 1.5)] - r * (exp(p[2]) * pmin(y, 0.5) + exp(p[3]) * pmin(pmax(y - 0.5, 0), 1) + exp(p[4]) * pmax(y - 1.5, 0)) / 2 }"},
	{"beta", "logit", "real, lower: 1e-5, upper: 0.99999", rLine, "kappa", "6", "dbeta(y, p[3] * plogis(eta), p[3] * plogis(-eta), log = TRUE)"},
	{"beta", "probit", "real, lower: 1e-5, upper: 0.99999", rLine, "kappa", "6", "dbeta(y, p[3] * pnorm(eta), p[3] * pnorm(-eta), log = TRUE)"},
	{"zero_one_inflated_beta", "logit", "real, lower: 0, upper: 1", rLine, "zoi coi kappa", "0.3 0.4 6",
		"ifelse(y == 0, log(p[3]) + log1p(-p[4]), ifelse(y == 1, log(p[3]) + log(p[4]), log1p(-p[3]) + dbeta(pmin(pmax(y, 1e-9), 1 - 1e-9), p[5] * plogis(eta), p[5] * plogis(-eta), log = TRUE)))"},
	{"zero_one_inflated_beta", "probit", "real, lower: 0, upper: 1", rLine, "zoi coi kappa", "0.3 0.4 6",
		"ifelse(y == 0, log(p[3]) + log1p(-p[4]), ifelse(y == 1, log(p[3]) + log(p[4]), log1p(-p[3]) + dbeta(pmin(pmax(y, 1e-9), 1 - 1e-9), p[5] * pnorm(eta), p[5] * pnorm(-eta), log = TRUE)))"},
	{"categorical", "softmax", "category, levels: [l1, l2, l3]", rLine, "", "",
		"{ a <- p[1] + p[3] * x; c <- p[2] + p[4] * x; ifelse(y == 'l2', a, ifelse(y == 'l3', c, 0)) - log(1 + exp(a) + exp(c)) }"},
	{"cumulative", "logit", rOrdered, rSteps, "thresholds", "-0.5 0 0.5", "ordered(plogis, p, y, x)"},
	{"cumulative", "probit", rOrdered, rSteps, "thresholds", "-0.5 0 0.5", "ordered(pnorm, p, y, x)"},
	{"cumulative", "cloglog", rOrdered, rSteps, "thresholds", "-0.5 0 0.5", "ordered(function(v) 1 - exp(-exp(v)), p, y, x)"},
	{"sratio", "logit", rOrdered, rSteps, "thresholds", "-0.5 0 0.5", "sequential(p, y, x)"},
	{"acat", "logit", rOrdered, rSteps, "thresholds", "-0.5 0 0.5", "adjacent(p, y, x)"},
}

// rHelpers are R functions: of ordered levels from the thresholds p[-1], and of the
// largest likelihood. laplace's density has a corner, so its curvature is taken widely.
const rHelpers = `
level <- function(y) as.integer(factor(y, levels = paste0("l", 1:4)))
pick <- function(m, y) log(m[cbind(seq_along(y), level(y))])
ordered <- function(F, p, y, x) { m <- sapply(p[-1], function(t) F(t - p[1] * x)); m <- cbind(m, 1) - cbind(0, m); pick(m, y) }
sequential <- function(p, y, x) { s <- sapply(p[-1], function(t) plogis(t - p[1] * x)); m <- cbind(s, 1); for (k in 1:3) for (j in (k + 1):4) m[, j] <- m[, j] * (1 - s[, k]); pick(m, y) }
adjacent <- function(p, y, x) { m <- exp(cbind(0, t(apply(sapply(p[-1], function(t) p[1] * x - t), 1, cumsum)))); pick(m / rowSums(m), y) }
best <- function(file, start, wide, density) {
  d <- read.csv(file); nll <- function(p) { s <- suppressWarnings(-sum(density(p, d$x, d$y))); if (is.finite(s)) s else 1e10 }
  f <- list(par = start)
  if (wide) for (i in 1:4) f <- optim(f$par, nll, control = list(reltol = 1e-14, maxit = 5000))
  else for (i in 1:2) f <- optim(f$par, nll, method = "BFGS", control = list(reltol = 1e-14, maxit = 5000, ndeps = rep(1e-4, length(start))))
  h <- optimHess(f$par, nll, control = list(ndeps = rep(if (wide) 0.02 else 1e-4, length(start))))
  cat(paste(format(f$par, digits = 12), format(sqrt(diag(solve(h))), digits = 12), collapse = " "), "\n")
}
at <- function(file, points, density) { d <- read.csv(file); cat(sapply(points, function(p) format(sum(density(p, d)), digits = 16)), "\n") }
`

// Every family under every link has the likelihood of R's own densities.
func TestFamiliesAgreeWithR(t *testing.T) {
	ask := startR(t)
	ask(t, rHelpers+"cat('ready\\n')\n")
	var all, tried []string
	for _, name := range formula.FamilyNames() {
		for _, link := range formula.FamilyOf(name).LinkNames() {
			if name != "gaussian" && name != "cratio" { // other names of normal and sratio
				all = append(all, name+" "+link)
			}
		}
	}
	for _, l := range inR {
		tried = append(tried, l.family+" "+l.link)
	}
	if !slices.Equal(all, tried) {
		t.Fatalf("families and links that R computes:\n%v, want\n%v", tried, all)
	}
	for _, l := range inR {
		t.Run(l.family+" "+l.link, func(t *testing.T) {
			narrow, _ := l.priors()
			m := modelstest.Compile(t, "truth.yaml", l.model(narrow))
			sameLikelihood(t, ask, m, "function(p, d) ("+l.function()+")(p, d$x, d$y)")
		})
	}
}

// sameLikelihood simulates 1000 records and checks that from one point of the parameters to another
// their log likelihood, which changes by tens or hundreds, changes as much as R's: density is
// a function of R of a parameter vector and the records. R reads them rounded, from a file.
func sameLikelihood(t *testing.T, ask func(*testing.T, string) string, m *models.Model, density string) {
	t.Helper()
	const records = 1000
	rng := noise.NewRandom(noise.Public(5).Stream(noise.Simulation))
	table, theta := simulate.Prior(m, records, rng)
	file := filepath.Join(t.TempDir(), "data.csv")
	if err := outfile.WriteTable(file, table, "", nil); err != nil {
		t.Fatal(err)
	}
	machine := graph.NewMachine(m.Likelihood, records)
	var ours []float64
	var points []string
	for range 5 {
		machine.Globals(theta, nil)
		machine.Records(simulate.Encode(m, table, records), m.Encoding.K, records, nil)
		sum := 0.0
		for _, x := range machine.Loss() {
			sum += x
		}
		ours = append(ours, sum)
		points = append(points, pointOfR(m, theta))
		for j := range theta {
			theta[j] += rng.Normal() / 10
		}
	}
	out := ask(t, fmt.Sprintf("at(%q, list(%s), %s)\n", file, strings.Join(points, ", "), density))
	theirs := strings.Fields(out)
	if len(theirs) != len(ours) {
		t.Fatalf("R has %s", out)
	}
	first, _ := strconv.ParseFloat(theirs[0], 64)
	for i, text := range theirs[1:] {
		r, _ := strconv.ParseFloat(text, 64)
		if got, want := ours[i+1]-ours[0], r-first; !(math.Abs(got-want) < 1e-4) {
			t.Errorf("from %s to %s the log likelihood changes by %.9g, in R by %.9g", points[0], points[i+1], got, want)
		}
	}
}

// sampled are families whose parameters have all kinds of supports.
var sampled = []string{"bernoulli probit", "skew_normal identity", "hurdle_negative_binomial log", "gamma inverse", "piecewise_exponential log", "zero_one_inflated_beta logit", "categorical softmax", "cumulative logit"}

// With wide priors and 1000 records the median of the posterior without privacy is within
// .22 of a standard error of the largest likelihood, which R finds.
func TestMediansAgreeWithR(t *testing.T) {
	ask := startR(t)
	ask(t, rHelpers+"cat('ready\\n')\n")
	found := 0
	for _, l := range inR {
		if !slices.Contains(sampled, l.family+" "+l.link) {
			continue
		}
		found++
		t.Run(l.family+" "+l.link, func(t *testing.T) {
			dir := t.TempDir()
			l.fit(t, dir)
			out := ask(t, l.inR(filepath.Join(dir, "data.csv")))
			theirs := strings.Fields(out)
			ours := medians(t, filepath.Join(dir, "run", "release", "summary.csv"))
			if len(ours) == 0 || 2*len(ours) != len(theirs) {
				t.Fatalf("parameters %v, in R %s", ours, out)
			}
			for j, p := range ours {
				best, _ := strconv.ParseFloat(theirs[2*j], 64)
				se, _ := strconv.ParseFloat(theirs[2*j+1], 64)
				apart := math.Abs(p.median-best) / se
				t.Logf("%s: %.2f standard errors apart", p.name, apart)
				if !(apart < 0.22) {
					t.Errorf("%s = %g, in R %g with standard error %g: %.2f apart", p.name, p.median, best, se, apart)
				}
			}
		})
	}
	if found != len(sampled) {
		t.Errorf("%d of %d families", found, len(sampled))
	}
}

// pointOfR is the vector of R with the parameters at theta.
func pointOfR(m *models.Model, theta []float64) string {
	values := make([]float64, m.Constrained)
	m.Constrain(values, theta)
	var text []string
	for j, name := range m.Names() {
		if !strings.Contains(name, "_raw") {
			text = append(text, strconv.FormatFloat(values[j], 'g', 17, 64))
		}
	}
	return "c(" + strings.Join(text, ", ") + ")"
}

// startR starts R for a test, or skips it without R. ask has R run commands that print one
// line, which it returns.
func startR(t *testing.T) (ask func(t *testing.T, commands string) string) {
	t.Helper()
	stattest.SkipNumerics(t)
	if _, err := exec.LookPath("Rscript"); err != nil {
		t.Skip("Rscript is not installed (apt-get install r-base-core)")
	}
	r, mistakes := exec.Command("Rscript", "-"), new(bytes.Buffer)
	r.Stderr = mistakes
	in, err := r.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := r.Wait(); err != nil {
			t.Errorf("Rscript: %v\n%s", err, mistakes)
		}
	})
	lines := bufio.NewReader(out)
	return func(t *testing.T, commands string) string {
		t.Helper()
		_, err := io.WriteString(in, commands)
		line, ended := lines.ReadString('\n')
		if err != nil || ended != nil {
			t.Fatalf("R has ended at %s", commands) // it prints why
		}
		return line
	}
}

// inR is the R command that prints the estimates and standard errors of the family from
// the records of a file.
func (l *likelihood) inR(file string) string {
	start := l.start
	switch {
	case l.truth == rSteps:
		start = "0.4 " + start
	case l.family == "categorical":
		start = "0.3 0.3 0.4 0.4"
	case l.truth == rAbove:
		start = "2.7 0.2 " + start
	default:
		start = "0.3 0.4 " + start
	}
	return fmt.Sprintf("best(%q, c(%s), %s, %s)\n", file, strings.Join(strings.Fields(start), ", "), strings.ToUpper(fmt.Sprint(l.family == "laplace")), l.function())
}

// function is the log density as a function of R.
func (l *likelihood) function() string {
	return "function(p, x, y) { eta <- p[1] + p[2] * x; z <- (as.numeric(y) - 1) / 2; w <- as.numeric(y) / 2; " + l.density + " }"
}

// model is the model file with the given priors.
func (l *likelihood) model(priors string) string {
	response, keys := "y", ""
	switch l.family {
	case "binomial", "beta_binomial":
		response = "y | trials(10)"
	case "piecewise_exponential":
		keys = "  cuts: [0.5, 1.5]\n"
	}
	return fmt.Sprintf(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: %s}
model:
  formula: %s ~ x
  family: %s
  link: %s
%s  priors: {%s}
`, l.response, response, l.family, l.link, keys, priors)
}

// priors are narrow ones around the truth, to simulate records, and wide ones.
func (l *likelihood) priors() (narrow, wide string) {
	narrow, wide = l.truth, `b: "normal(0, 50)"`
	switch {
	case l.truth == rAbove:
		wide += `, Intercept: "log_normal(0, 10)"`
	case l.truth != rSteps:
		wide += `, Intercept: "normal(0, 50)"`
	}
	start := strings.Fields(l.start)
	for j, a := range strings.Fields(l.auxiliary) {
		switch {
		case a == "thresholds" && l.family == "cumulative":
			narrow, wide = narrow+`, thresholds: "ordered_normal(0, 1)"`, wide+`, thresholds: "ordered_normal(0, 50)"`
		case a == "thresholds", a == "baseline":
			narrow, wide = narrow+fmt.Sprintf(`, %s: "normal(0, 0.5)"`, a), wide+fmt.Sprintf(`, %s: "normal(0, 50)"`, a)
		case a == "alpha":
			narrow, wide = narrow+`, alpha: "normal(3, 1e-3)"`, wide+`, alpha: "normal(0, 50)"`
		case a == "zi", a == "hu", a == "zoi", a == "coi":
			narrow = narrow + fmt.Sprintf(`, %s: "beta(30000, 70000)"`, a)
		default:
			truth, _ := strconv.ParseFloat(start[j], 64)
			narrow, wide = narrow+fmt.Sprintf(`, %s: "log_normal(%g, 1e-3)"`, a, math.Log(truth)), wide+fmt.Sprintf(`, %s: "log_normal(0, 3)"`, a)
		}
	}
	return narrow, wide
}

// fit writes simulated records of the family and fits it to them without privacy.
func (l *likelihood) fit(t *testing.T, dir string) {
	t.Helper()
	write := func(name, priors string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(l.model(priors)), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	narrow, wide := l.priors()
	data := filepath.Join(dir, "data.csv")
	d3p(t, "simulate", write("truth.yaml", narrow), "--rows", "1000", "--seed", "5", "--out", data, "--quiet")
	arguments := []string{"fit-nonprivate", data, "--model", write("model.yaml", wide), "--out", filepath.Join(dir, "run"), "--formats", "csv", "--quiet"}
	if l.truth == rAbove { // the likelihood has other maxima, where the predictor changes its sign among the records
		arguments = append(arguments, "--method", "vi")
	}
	d3p(t, arguments...)
}

type median struct {
	name   string
	median float64
}

// medians are the parameters of a summary with their medians, on the declared scale.
func medians(t *testing.T, path string) (all []median) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		if !strings.Contains(r[0], "_raw") {
			x, _ := strconv.ParseFloat(r[2], 64)
			all = append(all, median{r[0], x})
		}
	}
	return all
}
