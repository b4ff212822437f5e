# Compares d3p fit-nonprivate with R: estimates of maximum likelihood under wide priors, and
# JAGS where the posterior is the same. Prints differences in posterior sds, or in Monte Carlo
# errors (MCSE) of both programs. Run `Rscript docs/results/reference.R bin/d3p`; it needs the
# Debian packages r-cran-mass, r-cran-pscl, r-cran-survival, r-cran-rjags and jags.
suppressMessages({library(MASS); library(pscl); library(survival); library(rjags)})
load.module("glm", quiet = TRUE)
d3p <- commandArgs(TRUE)[1]
folder <- tempfile(); dir.create(folder)

REAL <- "type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}"
LINE <- "type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}"
POSITIVE <- "type: real, lower: 1e-6, upper: 1e6, scale: {center: 0, by: 1}"
COUNT <- "type: integer, lower: 0, upper: 100000"
BINARY <- 'type: binary, levels: ["0", "1"]'
FLAT <- '    Intercept: normal(0, 100)\n    b: normal(0, 100)\n'

# fit is the summary of d3p's fit.
fit <- function(name, data, columns, formula, family, priors = FLAT) {
  path <- file.path(folder, gsub("[^A-Za-z0-9]", "", name))
  write.csv(data, paste0(path, ".csv"), row.names = FALSE, quote = FALSE)
  columns <- paste0("    ", names(columns), ": {", columns, "}\n", collapse = "")
  cat("d3p: 1\nname: t\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: ", nrow(data), "}\n  columns:\n",
    columns, "  constant_within: none\nmodel:\n  formula: ", formula, "\n  family: ", family, "\n  priors:\n", priors, sep = "", file = paste0(path, ".yaml"))
  seconds <- system.time(status <- system2(d3p, c("fit-nonprivate", paste0(path, ".csv"), "--quiet --formats csv --init-seed 1 --out", path), stdout = FALSE, stderr = FALSE))[3]
  s <- read.csv(file.path(path, "release", "summary.csv"))
  rownames(s) <- s$variable
  attr(s, "label") <- sprintf("%s (status %d, %.0f s)", name, status, seconds)
  s
}

# against prints d3p's summary beside means and sds of R.
against <- function(s, names, mean, sd) {
  s1 <- s[names, ]
  cat(sprintf("%-34s %-16s d3p %9.4f ± %7.4f   R %9.4f ± %7.4f   %6.3f sds (MCSE %.3f)   sd × %.3f\n",
    attr(s, "label"), names, s1$mean, s1$sd, mean, sd, (s1$mean - mean) / sd, s1$mcse_mean / sd, s1$sd / sd), sep = "")
}
coefficients <- function(names) ifelse(names == "(Intercept)", "Intercept", paste0("b[", names, "]"))
likelihood <- function(s, f, v = vcov(f)) against(s, coefficients(names(coef(f))), coef(f), sqrt(diag(v))[seq_along(coef(f))])

set.seed(7)
n <- 5000
x <- data.frame(x0 = pmax(-6, pmin(6, rnorm(n))), x1 = pmax(-6, pmin(6, rnorm(n))))
eta <- 0.5 + 0.4 * x$x0 - 0.3 * x$x1
both <- c(x0 = REAL, x1 = REAL)
fits <- function(name, y, column, family, priors = FLAT) fit(name, cbind(x, y), c(both, y = column), "y ~ 1 + x0 + x1", family, priors)

y <- eta + rnorm(n)
f <- lm(y ~ x0 + x1, x); s <- fits("linear", y, LINE, "normal")
likelihood(s, f); against(s, "sigma", summary(f)$sigma, summary(f)$sigma / sqrt(2 * f$df))
y <- rbinom(n, 1, plogis(eta))
likelihood(fits("logistic", y, BINARY, "bernoulli"), glm(y ~ x0 + x1, binomial, x))
y <- rpois(n, exp(eta))
likelihood(fits("Poisson", y, COUNT, "poisson"), glm(y ~ x0 + x1, poisson, x))
y <- nb <- rnbinom(n, size = 2, mu = exp(eta))
f <- glm.nb(y ~ x0 + x1, x)
s <- fits("negative binomial", y, COUNT, "negative_binomial")
likelihood(s, f); against(s, "phi", f$theta, f$SE.theta)
y <- rgamma(n, 2, 2 / exp(eta))
f <- glm(y ~ x0 + x1, Gamma("log"), x); shape <- gamma.shape(f)
s <- fits("gamma", y, POSITIVE, "gamma")
likelihood(s, f, vcov(f, dispersion = 1 / shape$alpha)); against(s, "shape", shape$alpha, shape$SE)

y <- cut(eta + rlogis(n), c(-Inf, -2, -1, 0, 1, 2, 3, 4.5, Inf), labels = FALSE) - 1
f <- polr(factor(y) ~ x0 + x1, x, Hess = TRUE)
s <- fit("ordinal, 8 levels", cbind(x, y), c(both, y = "type: ordinal, levels: [0, 1, 2, 3, 4, 5, 6, 7]"), "y ~ x0 + x1", "cumulative", "    b: normal(0, 100)\n")
against(s, c("b[x0]", "b[x1]", paste0("thresholds[", 1:7, "]")), c(coef(f), f$zeta), sqrt(diag(vcov(f))))

# counts compares a hurdle or zero-inflated fit: share is the name of the share of zeros.
counts <- function(s, f, share, sign) {
  v <- sqrt(diag(vcov(f))); k <- coef(f); count <- grep("^count", names(k)); zero <- grep("^zero", names(k))
  against(s, coefficients(sub("^count_", "", names(k)[count])), k[count], v[count])
  p <- plogis(sign * k[zero]); against(s, share, p, v[zero] * p * (1 - p))
  if (!is.null(f$theta)) against(s, "phi", f$theta, f$theta * f$SE.logtheta)
}
extra <- runif(n) < 0.3
above <- function(draw) { y <- draw(); while (any(y == 0)) y[y == 0] <- draw()[y == 0]; ifelse(extra, 0, y) }
y <- above(function() rpois(n, exp(eta)))
counts(fits("hurdle Poisson", y, COUNT, "hurdle_poisson"), hurdle(y ~ x0 + x1 | 1, x), "hu", -1)
y <- above(function() rnbinom(n, size = 2, mu = exp(eta)))
counts(fits("hurdle negative binomial", y, COUNT, "hurdle_negative_binomial"), hurdle(y ~ x0 + x1 | 1, x, dist = "negbin"), "hu", -1)
y <- ifelse(extra, 0, rpois(n, exp(eta)))
counts(fits("zero-inflated Poisson", y, COUNT, "zero_inflated_poisson"), zeroinfl(y ~ x0 + x1 | 1, x), "zi", 1)
y <- ifelse(extra, 0, nb)
counts(fits("zero-inflated neg. binomial", y, COUNT, "zero_inflated_negative_binomial"), zeroinfl(y ~ x0 + x1 | 1, x, dist = "negbin"), "zi", 1)

time <- rgamma(n, 2, 2 / exp(eta)); end <- rgamma(n, 2, 1.6 / exp(eta))
t <- cbind(x, y = pmin(time, end), event = as.integer(time <= end))
survival <- function(family) fit(paste("censored", family), t, c(both, y = POSITIVE, event = BINARY), "surv(y, event) ~ 1 + x0 + x1", family)
f <- survreg(Surv(y, event) ~ x0 + x1, t, dist = "weibull"); s <- survival("weibull")
likelihood(s, f); against(s, "shape", 1 / f$scale, sqrt(vcov(f)[4, 4]) / f$scale)
f <- survreg(Surv(y, event) ~ x0 + x1, t, dist = "lognormal"); s <- survival("log_normal")
likelihood(s, f); against(s, "sigma", f$scale, sqrt(vcov(f)[4, 4]) * f$scale)
X <- cbind(1, x$x0, x$x1)
o <- optim(c(0.5, 0.4, -0.3, 0.7), function(p) { a <- exp(p[4]); rate <- a / exp(X %*% p[1:3])
  -sum(ifelse(t$event == 1, dgamma(t$y, a, rate, log = TRUE), pgamma(t$y, a, rate, lower.tail = FALSE, log.p = TRUE))) },
  method = "BFGS", hessian = TRUE, control = list(maxit = 500, reltol = 1e-12))
se <- sqrt(diag(solve(o$hessian)))
against(survival("gamma"), c("Intercept", "b[x0]", "b[x1]", "shape"), c(o$par[1:3], exp(o$par[4])), se * c(1, 1, 1, exp(o$par[4])))

# Raw columns: years and dollars without a scale.
raw <- data.frame(year = sample(1900:2020, n, TRUE), dollars = round(pmin(2e5, rgamma(n, 2, 1 / 25000))))
line <- 0.02 * (raw$year - 1960) + 1e-5 * (raw$dollars - 50000)
columns <- c(year = "type: integer, lower: 1900, upper: 2020, scale: {center: 0, by: 1}", dollars = "type: real, lower: 0, upper: 200000, scale: {center: 0, by: 1}")
raw$y <- rbinom(n, 1, plogis(line - 0.5))
likelihood(fit("logistic, raw columns", raw, c(columns, y = BINARY), "y ~ 1 + year + dollars", "bernoulli"), glm(y ~ ., binomial, raw))
raw$y <- rpois(n, exp(1 + line / 2))
likelihood(fit("Poisson, raw columns", raw, c(columns, y = COUNT), "y ~ 1 + year + dollars", "poisson"), glm(y ~ ., poisson, raw))

# A spline has the span of R's natural splines.
curve <- data.frame(x0 = runif(n, -3, 3))
curve$y <- sin(curve$x0) + rnorm(n, 0, 0.3)
f <- lm(y ~ splines::ns(x0, knots = 0, Boundary.knots = c(-2, 2)), curve)
against(fit("spline", curve, c(x0 = REAL, y = LINE), "y ~ 1 + spline(x0, -2, 0, 2)", "normal", "    Intercept: normal(0, 100)\n"),
  "sigma", summary(f)$sigma, summary(f)$sigma / sqrt(2 * f$df))

# wells is a real table, in the folder that D3P_DATA names.
wells <- file.path(Sys.getenv("D3P_DATA"), "wells", "train.csv")
if (file.exists(wells)) {
  w <- read.csv(wells)[, c("switched", "arsenic", "dist")]
  likelihood(fit("wells", w, c(switched = BINARY, arsenic = LINE, dist = "type: real, lower: 0, upper: 400, scale: {center: 0, by: 1}"),
    "switched ~ 1 + arsenic + dist", "bernoulli"), glm(switched ~ arsenic + dist, binomial, w))
}

# jags compares posteriors: parameters maps JAGS's names to d3p's. MCSE is that of both.
jags <- function(s, model, data, parameters) {
  j <- jags.model(textConnection(model), data, n.chains = 4, n.adapt = 1000, quiet = TRUE,
    inits = lapply(1:4, function(i) list(.RNG.name = "base::Mersenne-Twister", .RNG.seed = i)))
  update(j, 1500, progress.bar = "none")
  draws <- coda.samples(j, names(parameters), 4000, progress.bar = "none")
  r <- summary(draws)$statistics[names(parameters), ]; size <- effectiveSize(draws)[names(parameters)]; s1 <- s[parameters, ]
  cat(sprintf("%-34s %-16s d3p %9.4f ± %7.4f   JAGS %9.4f ± %7.4f   mean %5.2f MCSE, sd %5.2f MCSE\n", attr(s, "label"), parameters, s1$mean, s1$sd, r[, 1], r[, 2],
    (s1$mean - r[, 1]) / sqrt(s1$mcse_mean^2 + r[, 2]^2 / size), (s1$sd - r[, 2]) / sqrt(s1$mcse_sd^2 + r[, 2]^2 / (2 * size))), sep = "")
}
# Groups with random slopes; LKJ(2) of two dimensions is a beta(2, 2) of (1 + rho) / 2.
groups <- 42; m <- 2000
g <- sample(groups, m, TRUE); a <- rnorm(groups, 0, 0.5); b <- rnorm(groups, 0, 0.3)
h <- data.frame(x0 = x$x0[1:m], site = g)
eta <- 0.5 + a[g] + (0.4 + b[g]) * h$x0
# Gibbs draws of normal responses mix with centred effects. With centred effects of binary
# responses they do not reach standard deviations near 0.
centred <- "z1[k] ~ dnorm(0, 1 / s1^2); z2[k] ~ dnorm(s2 * rho * z1[k] / s1, 1 / (s2^2 * (1 - rho^2)))"
free <- "w1[k] ~ dnorm(0, 1); w2[k] ~ dnorm(0, 1); z1[k] <- s1 * w1[k]; z2[k] <- s2 * (rho * w1[k] + sqrt(1 - rho^2) * w2[k])"
slopes <- function(density, effects, more) paste("model { a ~ dnorm(0, 0.04); b ~ dnorm(0, 0.04); s1 ~ dnorm(0, 1) T(0,); s2 ~ dnorm(0, 1) T(0,); u ~ dbeta(2, 2); rho <- 2 * u - 1;", more,
  "for (k in 1:G) {", effects, "}",
  "for (i in 1:N) { eta[i] <- a + z1[g[i]] + (b + z2[g[i]]) * x[i]; y[i] ~", density, "} }")
columns <- c(x0 = REAL, site = paste0("type: category, levels: [", paste(1:groups, collapse = ", "), "]"))
priors <- "    Intercept: normal(0, 5)\n    b: normal(0, 5)\n    sd: half_normal(1)\n"
names <- c(a = "Intercept", b = "b[x0]", s1 = "sd_site[Intercept]", s2 = "sd_site[x0]", rho = "L_site[x0,Intercept]")
h$y <- eta + rnorm(m)
jags(fit("linear, 42 groups with slopes", h, c(columns, y = LINE), "y ~ 1 + x0 + (1 + x0 | site)", "normal", paste0(priors, "    sigma: half_normal(1)\n")),
  slopes("dnorm(eta[i], 1 / sigma^2)", centred, "sigma ~ dnorm(0, 1) T(0,);"), list(N = m, G = groups, g = g, x = h$x0, y = h$y), c(names, sigma = "sigma"))
h$y <- rbinom(m, 1, plogis(eta))
jags(fit("logistic, 42 groups with slopes", h, c(columns, y = BINARY), "y ~ 1 + x0 + (1 + x0 | site)", "bernoulli", priors),
  slopes("dbern(ilogit(eta[i]))", free, ""), list(N = m, G = groups, g = g, x = h$x0, y = h$y), names)
