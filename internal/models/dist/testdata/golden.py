"""Writes testdata/NAME.json: log densities to 17 digits, from 60-digit decimal arithmetic.

Densities are products of powers and gamma functions written from the textbooks, not from the Go code; the gamma
function is Stirling's series after an upward shift. Run: python3 golden.py (needs only the standard library).
"edges" holds extreme points with "finite" or "-inf" instead of a value.
"""
import json
import os
from decimal import Decimal as D, getcontext
from fractions import Fraction
from math import comb

getcontext().prec = 60
PI = D("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def bernoulli_numbers(n):
    b = [Fraction(0)] * (n + 1)
    b[0] = Fraction(1)
    for m in range(1, n + 1):
        b[m] = -sum(comb(m + 1, k) * b[k] for k in range(m)) / (m + 1)
    return b


BERNOULLI = bernoulli_numbers(60)


def lgamma(x):
    x = D(x)
    shift = D(1)
    while x < 60:
        shift *= x
        x += 1
    s = (x - D("0.5")) * x.ln() - x + (2 * PI).ln() / 2
    for k in range(1, 30):
        b = D(BERNOULLI[2 * k].numerator) / D(BERNOULLI[2 * k].denominator)
        s += b / (2 * k * (2 * k - 1)) / x ** (2 * k - 1)
    return s - shift.ln()


def ln(x):
    return D(x).ln()


def exp(x):
    return D(x).exp()


def sigmoid(x):
    return 1 / (1 + exp(-x))


def norm(x, m, s):
    return -((x - m) / s) ** 2 / 2 - ln(s) - ln(2 * PI) / 2


def student(x, v, m, s):
    z = (x - m) / s
    return lgamma((v + 1) / 2) - lgamma(v / 2) - ln(v * PI) / 2 - ln(s) - (v + 1) / 2 * ln(1 + z * z / v)


def cauchy(x, m, s):
    return -ln(PI * s * (1 + ((x - m) / s) ** 2))


def fact(n):
    return lgamma(D(n) + 1)


def probs(a):
    if "probs" in a:
        return a["probs"]
    if isinstance(a["logits"], list):
        e = [exp(v) for v in a["logits"]]
        return [v / sum(e) for v in e]
    return sigmoid(a["logits"])


def ordered_logistic(x, a):
    c, eta, k = a["cutpoints"], a["eta"], int(x)
    hi = sigmoid(c[k] - eta) if k < len(c) else D(1)
    lo = sigmoid(c[k - 1] - eta) if k > 0 else D(0)
    return ln(hi - lo)


def erf_series(z):
    """erf by its alternating series, to 50 digits for |z| < 6 under 60-digit arithmetic and guard digits."""
    getcontext().prec = 110
    term = total = D(z)
    n = 0
    while abs(term) > D(10) ** -80:
        n += 1
        term = -term * z * z / n
        total += term / (2 * n + 1)
    getcontext().prec = 60
    return +(2 * total / PI.sqrt())


def normal_cdf(z):
    return (1 + erf_series(D(z) / D(2).sqrt())) / 2


def cloglog_cdf(z):
    return 1 - exp(-exp(z))


def ordered(cdf):
    def density(x, a):
        c, eta, k = a["cutpoints"], a["eta"], int(x)
        hi = cdf(c[k] - eta) if k < len(c) else D(1)
        lo = cdf(c[k - 1] - eta) if k > 0 else D(0)
        return ln(hi - lo)
    return density


def sequential(x, a):
    c, eta, k = a["cutpoints"], a["eta"], int(x)
    p = D(1)
    for j in range(k):
        p *= 1 - sigmoid(c[j] - eta)
    return ln(p * (sigmoid(c[k] - eta) if k < len(c) else 1))


def adjacent(x, a):
    weights = [D(1)]
    for c in a["cutpoints"]:
        weights.append(weights[-1] * exp(a["eta"] - c))
    return ln(weights[int(x)] / sum(weights))


def log_beta(p, q):
    return lgamma(p) + lgamma(q) - lgamma(p + q)


def beta_binomial(x, a):
    n, p, q = a["trials"], a["alpha"], a["beta"]
    return fact(n) - fact(x) - fact(n - x) + log_beta(x + p, n - x + q) - log_beta(p, q)


def inverse_gaussian(x, a):
    m, s = a["mean"], a["shape"]
    return ln(s / (2 * PI * x ** 3)) / 2 - s * (x - m) ** 2 / (2 * m * m * x)


def skew_normal(x, a):
    z = (x - a["loc"]) / a["scale"]
    return ln(2) + norm(x, a["loc"], a["scale"]) + ln(normal_cdf(a["alpha"] * z))


def log_logistic(x, a):
    s = a["scale"] if "scale" in a else exp(a["log_scale"])
    k = a["shape"]
    odds = exp(k * ln(x / s))
    return ln(k / x) + ln(odds) - 2 * ln(1 + odds)


def gompertz(x, a):
    r = a["rate"] if "rate" in a else exp(a["log_rate"])
    k = a["shape"]
    return ln(r) + k * x - r * (exp(k * x) - 1) / k


def dirichlet(x, a):
    c = a["concentration"]
    c = c if isinstance(c, list) else [c] * len(x)
    return lgamma(sum(c)) - sum(lgamma(v) for v in c) + sum((v - 1) * ln(p) for v, p in zip(c, x))


def mvn(x, a):
    n, L = len(x), a["cholesky"]
    L = [L[i * n:(i + 1) * n] for i in range(n)]
    m = a["loc"] if isinstance(a["loc"], list) else [a["loc"]] * n
    # the density from the covariance itself, by Cramer's rule (n = 2)
    s = [[sum(L[i][k] * L[j][k] for k in range(n)) for j in range(n)] for i in range(n)]
    det = s[0][0] * s[1][1] - s[0][1] * s[1][0]
    r = [x[i] - m[i] for i in range(n)]
    q = (s[1][1] * r[0] * r[0] - 2 * s[0][1] * r[0] * r[1] + s[0][0] * r[1] * r[1]) / det
    return -q / 2 - ln(det) / 2 - ln(2 * PI)


def lkj(x, a):
    """From the density of the correlation matrix: det^(eta-1) / c, c by LKJ 2009 eq. 16, and its Jacobian."""
    d = {4: 2, 9: 3}[len(x)]
    eta = a["concentration"]
    L = [x[i * d:(i + 1) * d] for i in range(d)]
    log_det = 2 * sum(ln(L[i][i]) for i in range(d))
    # volume: product over k of [2^(2b-2+d-k) B(b, b)]^(d-k), b = eta + (d-1-k)/2
    c = D(0)
    for k in range(1, d):
        b = eta + D(d - 1 - k) / 2
        beta = 2 * lgamma(b) - lgamma(2 * b)
        c += (d - k) * ((2 * b - 1) * ln(2) + beta)
    # dR/dL = prod_i L_ii^(d-i), i from 1 (first column fixed at row length 1)
    jac = sum((d - 1 - i) * ln(L[i][i]) for i in range(d))
    return (eta - 1) * log_det - c + jac


def negative_binomial(x, a):
    m = a["mean"] if "mean" in a else exp(a["log_mean"])
    f = a["phi"]
    return lgamma(x + f) - fact(x) - lgamma(f) + x * ln(m / (m + f)) + f * ln(f / (m + f))


def weibull(x, a):
    s = a["scale"] if "scale" in a else exp(a["log_scale"])
    k = a["shape"]
    z = x / s
    return ln(k / s) + (k - 1) * ln(z) - exp(k * ln(z))


def poisson(x, a):
    r = a["rate"] if "rate" in a else exp(a["log_rate"])
    return x * ln(r) - r - fact(x)


def binomial(x, a):
    p = probs(a)
    n = a["trials"]
    return fact(n) - fact(x) - fact(n - x) + x * ln(p) + (n - x) * ln(1 - p)


def multinomial(x, a):
    return fact(a["trials"]) + sum(v * ln(p) - fact(v) for v, p in zip(x, probs(a)))


def horseshoe(x, a):
    """Trapezoidal rule in log lambda with a step a tenth of the Go code's and twice its range."""
    h, n = D("0.025"), 1280
    total = D(0)
    for i in range(-n, n + 1):
        lam = exp(h * i)
        s = a["scale"] * lam / (1 + (a["scale"] * lam / a["slab"]) ** 2).sqrt()
        total += exp(norm(x, D(0), s)) * 2 / (PI * (1 + lam * lam)) * lam * h
    return ln(total)


def gate(a):
    return a["zi"] if "zi" in a else sigmoid(a["zi_logits"])


def zero_inflated(base):
    return lambda x, a: ln((gate(a) if x == 0 else 0) + (1 - gate(a)) * exp(base(x, a)))


def hurdle(base):
    return lambda x, a: ln(gate(a)) if x == 0 else ln(1 - gate(a)) + base(x, a) - ln(1 - exp(base(D(0), a)))


def piecewise(x, a):
    edges = [D(0)] + a["cuts"] + [D(10) ** 9]
    total, hazard = D(0), None
    for lo, hi, lh in zip(edges, edges[1:], a["log_hazard"]):
        total += exp(lh) * max(D(0), min(x, hi) - lo)
        if lo < x <= hi:
            hazard = lh
    return hazard - total


def beta(x, a):
    p, q = (a["alpha"], a["beta"]) if "alpha" in a else (a["mean"] * a["kappa"], (1 - a["mean"]) * a["kappa"])
    return lgamma(p + q) - lgamma(p) - lgamma(q) + (p - 1) * ln(x) + (q - 1) * ln(1 - x)


def zero_one_inflated_beta(x, a):
    if x == 0:
        return ln(a["zoi"] * (1 - a["coi"]))
    return ln(a["zoi"] * a["coi"]) if x == 1 else ln(1 - a["zoi"]) + beta(x, a)


FAMILIES = {
    "bernoulli": (lambda x, a: ln(probs(a)) if x == 1 else ln(1 - probs(a)), [
        ({"probs": .3}, 1), ({"probs": .3}, 0), ({"logits": -1.7}, 1), ({"logits": 30}, 0), ({"logits": 2}, 1)],
        [({"logits": 1000}, 0, "finite"), ({"logits": -1000}, 1, "finite"), ({"logits": -1000}, 0, "finite"),
         ({"probs": 1}, 1, "finite"), ({"probs": 0}, 1, "-inf")]),
    "beta": (beta, [
        ({"mean": .25, "kappa": 10}, .375),
        ({"alpha": 2, "beta": 3}, .25), ({"alpha": .5, "beta": .5}, .01), ({"alpha": 1, "beta": 9}, .125),
        ({"alpha": 30, "beta": 70}, .3125)], [({"alpha": 1e-3, "beta": 1e3}, 1e-300, "finite")]),
    "binomial": (binomial, [
        ({"trials": 10, "probs": .3}, 4), ({"trials": 40, "logits": -2}, 3), ({"trials": 1, "probs": .9}, 1)],
        [({"trials": 10, "logits": 800}, 3, "finite"), ({"trials": 0, "logits": 1}, 0, "finite")]),
    "categorical": (lambda x, a: ln(probs(a)[int(x)]), [
        ({"probs": [.2, .5, .3]}, 1), ({"logits": [.5, -1, 2, 0]}, 3), ({"logits": [30, 0, -30]}, 2)],
        [({"logits": [1000, -1000]}, 1, "finite"), ({"logits": [-1e4, -1e4]}, 0, "finite")]),
    "cauchy": (lambda x, a: cauchy(x, a["loc"], a["scale"]), [
        ({"loc": 0, "scale": 1}, .5), ({"loc": -1, "scale": 2.5}, 100), ({"loc": 3, "scale": .25}, 3)],
        [({"loc": 0, "scale": 1}, 1e150, "finite")]),
    "dirichlet": (dirichlet, [
        ({"concentration": 1}, [.25, .25, .5]), ({"concentration": [.5, 2, 3]}, [.125, .375, .5]),
        ({"concentration": [4, 2.5]}, [.75, .25])], [({"concentration": .01}, [1e-300, 1], "finite")]),
    "exponential": (lambda x, a: ln(a["rate"]) - a["rate"] * x, [
        ({"rate": 1}, .5), ({"rate": .25}, 7), ({"rate": 20}, .125)], [({"rate": 1}, 0, "finite")]),
    "gamma": (lambda x, a: a["shape"] * ln(a["rate"]) - lgamma(a["shape"]) + (a["shape"] - 1) * ln(x) - a["rate"] * x, [
        ({"shape": 2, "rate": .1}, 12), ({"shape": .5, "rate": 3}, .125), ({"shape": 2, "rate": .05}, 40),
        ({"shape": 50, "rate": 10}, 4.5)], [({"shape": .001, "rate": 1}, 1e-300, "finite"), ({"shape": 1e6, "rate": 1}, 1e6, "finite")]),
    "half_cauchy": (lambda x, a: ln(2) + cauchy(x, 0, a["scale"]), [
        ({"scale": 1}, .5), ({"scale": 2.5}, 40), ({"scale": .1}, .0625)], [({"scale": 1}, 1e150, "finite")]),
    "half_normal": (lambda x, a: ln(2) + norm(x, 0, a["scale"]), [
        ({"scale": 1}, .5), ({"scale": 2.5}, 6), ({"scale": .1}, .0625)], [({"scale": 1}, 0, "finite")]),
    "half_student_t": (lambda x, a: ln(2) + student(x, a["df"], D(0), a["scale"]), [
        ({"df": 3, "scale": 1}, .5), ({"df": 7, "scale": 2.5}, 6), ({"df": 1.5, "scale": .5}, 30)],
        [({"df": 3, "scale": 1}, 1e150, "finite")]),
    "horseshoe": (horseshoe, [
        ({"scale": 1, "slab": 2}, .5), ({"scale": .25, "slab": 1000}, 3), ({"scale": .1, "slab": 1}, -.0625)],
        [({"scale": 1, "slab": 2}, 0, "finite"), ({"scale": 1, "slab": 2}, 1e100, "finite"), ({"scale": 1e-3, "slab": 1e3}, 1e-12, "finite")]),
    "hurdle_poisson": (hurdle(poisson), [
        ({"zi": .3, "rate": 2}, 0), ({"zi_logits": -1, "log_rate": .5}, 3), ({"zi": .5, "rate": .125}, 1)],
        [({"zi_logits": 800, "log_rate": -700}, 1, "finite"), ({"zi_logits": -800, "log_rate": 6}, 0, "finite")]),
    "hurdle_negative_binomial": (hurdle(negative_binomial), [
        ({"zi": .3, "mean": 2, "phi": 1.5}, 0), ({"zi_logits": -1, "log_mean": .5, "phi": 4}, 3)],
        [({"zi_logits": 0, "log_mean": -700, "phi": 1}, 1, "finite")]),
    "piecewise_exponential": (piecewise, [
        ({"log_hazard": [-1, 0, .5], "cuts": [.5, 2]}, .25), ({"log_hazard": [-1, 0, .5], "cuts": [.5, 2]}, 1.5),
        ({"log_hazard": [-1, 0, .5], "cuts": [.5, 2]}, 3), ({"log_hazard": [-3, -4], "cuts": [30]}, 90)],
        [({"log_hazard": [0, 1], "cuts": [1]}, 1, "finite"), ({"log_hazard": [-700, -700], "cuts": [1]}, 5, "finite")]),
    "zero_inflated_poisson": (zero_inflated(poisson), [
        ({"zi": .3, "rate": 2}, 0), ({"zi_logits": -1, "log_rate": .5}, 3), ({"zi_logits": -2, "rate": 8}, 0)],
        [({"zi_logits": 800, "log_rate": 3}, 0, "finite"), ({"zi_logits": -800, "log_rate": 6}, 0, "finite"),
         ({"zi_logits": 800, "log_rate": 3}, 1, "finite")]),
    "zero_inflated_negative_binomial": (zero_inflated(negative_binomial), [
        ({"zi": .3, "mean": 2, "phi": 1.5}, 0), ({"zi_logits": -1, "log_mean": .5, "phi": 4}, 3)],
        [({"zi_logits": -800, "log_mean": 600, "phi": 1}, 0, "finite")]),
    "zero_one_inflated_beta": (zero_one_inflated_beta, [
        ({"zoi": .3, "coi": .25, "alpha": 2, "beta": 3}, 0), ({"zoi": .3, "coi": .25, "alpha": 2, "beta": 3}, 1),
        ({"zoi": .3, "coi": .25, "alpha": 2, "beta": 3}, .25), ({"zoi": .125, "coi": .9, "mean": .25, "kappa": 10}, .375)],
        [({"zoi": .5, "coi": .5, "alpha": 1e-3, "beta": 1e3}, 0, "finite"), ({"zoi": .5, "coi": .5, "alpha": .5, "beta": .5}, 1e-300, "finite")]),
    "adjacent_logistic": (adjacent, [
        ({"eta": .3, "cutpoints": [-1, 0, 2]}, 0), ({"eta": .3, "cutpoints": [1, -.5, 2]}, 2), ({"eta": -2, "cutpoints": [-1, 0, 2]}, 3),
        ({"eta": 1, "cutpoints": [.5]}, 1)],
        [({"eta": 500, "cutpoints": [-1, 0, 2]}, 0, "finite"), ({"eta": -500, "cutpoints": [-1, 0, 2]}, 3, "finite")]),
    "beta_binomial": (beta_binomial, [
        ({"trials": 7, "alpha": 2, "beta": .5}, 3), ({"trials": 1, "alpha": 1, "beta": 4}, 0), ({"trials": 30, "alpha": 20, "beta": 9}, 22)],
        [({"trials": 5, "alpha": 1e-3, "beta": 1e-3}, 5, "finite")]),
    "gompertz": (gompertz, [
        ({"shape": .5, "rate": .3}, 1), ({"shape": 2, "log_rate": -1}, .5), ({"shape": .1, "log_rate": -3}, 20)],
        [({"shape": 1, "log_rate": -600}, 500, "finite"), ({"shape": .5, "rate": 1}, 1e-300, "finite")]),
    "inverse_gaussian": (inverse_gaussian, [
        ({"mean": 1, "shape": 1}, .5), ({"mean": 3, "shape": 12}, 2.5), ({"mean": .5, "shape": 3}, 1)],
        [({"mean": 1, "shape": 1}, 1e-3, "finite"), ({"mean": 1, "shape": 2}, 1e100, "finite")]),
    "log_logistic": (log_logistic, [
        ({"shape": 1.5, "scale": 2}, 1), ({"shape": 3, "log_scale": 1}, 5), ({"shape": 8, "log_scale": -1}, .25)],
        [({"shape": 1.5, "log_scale": 300}, 1, "finite"), ({"shape": 2, "scale": 1}, 1e-300, "finite")]),
    "ordered_cloglog": (ordered(cloglog_cdf), [
        ({"eta": .3, "cutpoints": [-1, 0, 2]}, 0), ({"eta": .3, "cutpoints": [-1, 0, 1]}, 2),
        ({"eta": 1, "cutpoints": [-1, 0, 2]}, 3), ({"eta": 1, "cutpoints": [.5]}, 1)],
        [({"eta": -5, "cutpoints": [-1, 0, 1]}, 3, "finite"), ({"eta": 30, "cutpoints": [-1, 0, 2]}, 1, "finite")]),
    "ordered_probit": (ordered(normal_cdf), [
        ({"eta": .3, "cutpoints": [-1, 0, 2]}, 0), ({"eta": .3, "cutpoints": [-1, 0, 2]}, 2),
        ({"eta": -2, "cutpoints": [-1, 0, 2]}, 3), ({"eta": 1, "cutpoints": [.5]}, 1), ({"eta": 0, "cutpoints": [2, 3]}, 1)],
        [({"eta": 30, "cutpoints": [-1, 0, 2]}, 1, "finite"), ({"eta": -30, "cutpoints": [-1, 0, 2]}, 2, "finite")]),
    "sequential_logistic": (sequential, [
        ({"eta": .3, "cutpoints": [-1, 0, 2]}, 0), ({"eta": .3, "cutpoints": [1, -.5, 2]}, 2), ({"eta": -2, "cutpoints": [-1, 0, 2]}, 3),
        ({"eta": 1, "cutpoints": [.5]}, 1)],
        [({"eta": 500, "cutpoints": [-1, 0, 2]}, 0, "finite"), ({"eta": -500, "cutpoints": [-1, 0, 2]}, 3, "finite")]),
    "skew_normal": (skew_normal, [
        ({"loc": 0, "scale": 1, "alpha": 2}, .5), ({"loc": -1, "scale": 2.5, "alpha": -1}, 1), ({"loc": 0, "scale": 1, "alpha": 3}, -1.2),
        ({"loc": 3, "scale": .25, "alpha": 0}, 3)],
        [({"loc": 0, "scale": 1, "alpha": 5}, -30, "finite")]),
    "inverse_gamma": (lambda x, a: a["shape"] * ln(a["scale"]) - lgamma(a["shape"]) - (a["shape"] + 1) * ln(x) - a["scale"] / x, [
        ({"shape": 1, "scale": 1}, .5), ({"shape": 10, "scale": .1}, .0125), ({"shape": 3, "scale": 2}, 4)],
        [({"shape": 1, "scale": 1}, 1e150, "finite")]),
    "laplace": (lambda x, a: -ln(2 * a["scale"]) - abs(x - a["loc"]) / a["scale"], [
        ({"loc": 0, "scale": 1}, .5), ({"loc": -1, "scale": 2.5}, -9), ({"loc": 3, "scale": .25}, 2.5)],
        [({"loc": 0, "scale": 1}, 0, "finite")]),
    "lkj_cholesky": (lkj, [
        ({"concentration": 2}, [1, 0, .6, .8]), ({"concentration": .7}, [1, 0, -.28, .96]),
        ({"concentration": 1}, [1, 0, 0, .6, .8, 0, .48, .6, .64]),
        ({"concentration": 3.5}, [1, 0, 0, .28, .96, 0, -.6, 0, .8])],
        [({"concentration": 1}, [1, 0, 1, 1e-150], "finite")]),
    "log_normal": (lambda x, a: norm(ln(x), a["loc"], a["scale"]) - ln(x), [
        ({"loc": 0, "scale": 1}, .5), ({"loc": -1, "scale": 1}, 3), ({"loc": 0, "scale": .5}, 2)],
        [({"loc": 0, "scale": 1}, 1e-300, "finite")]),
    "multinomial": (multinomial, [
        ({"trials": 6, "probs": [.2, .5, .3]}, [1, 3, 2]), ({"trials": 5, "logits": [.5, -1, 0]}, [4, 0, 1]),
        ({"trials": 3, "probs": [.5, .5]}, [0, 3])], [({"trials": 2, "logits": [500, -500]}, [0, 2], "finite")]),
    "mvn": (mvn, [
        ({"loc": [1, -1], "cholesky": [2, 0, .5, .75]}, [.5, .5]), ({"loc": 0, "cholesky": [1, 0, -.9, .4]}, [2, 1])],
        [({"loc": 0, "cholesky": [1, 0, 0, 1]}, [1e100, 0], "finite")]),
    "negative_binomial": (negative_binomial, [
        ({"mean": 3, "phi": 2}, 4), ({"log_mean": 1.5, "phi": .5}, 0), ({"mean": 40, "phi": 100}, 37), ({"log_mean": -2, "phi": 10}, 1)],
        [({"log_mean": 700, "phi": 1}, 3, "finite"), ({"log_mean": -700, "phi": 1}, 0, "finite")]),
    "normal": (lambda x, a: norm(x, a["loc"], a["scale"]), [
        ({"loc": 0, "scale": 1}, .5), ({"loc": -1, "scale": 2.5}, 7), ({"loc": 3, "scale": .25}, 3)],
        [({"loc": 0, "scale": 1}, 1e150, "finite"), ({"loc": 0, "scale": 1e-150}, 1e-150, "finite")]),
    "ordered_logistic": (ordered_logistic, [
        ({"eta": .3, "cutpoints": [-1, 0, 2]}, 0), ({"eta": .3, "cutpoints": [-1, 0, 2]}, 2),
        ({"eta": -2, "cutpoints": [-1, 0, 2]}, 3), ({"eta": 1, "cutpoints": [.5]}, 1), ({"eta": 0, "cutpoints": [-30, 30]}, 1)],
        [({"eta": 500, "cutpoints": [-1, 0, 2]}, 1, "finite"), ({"eta": -500, "cutpoints": [-1, 0, 2]}, 2, "finite")]),
    "ordered_normal": (lambda x, a: fact(len(x)) + sum(norm(v, a["loc"], a["scale"]) for v in x), [
        ({"loc": 0, "scale": 2}, [-1, .5]), ({"loc": 1, "scale": 1}, [0, .25, 3])], [({"loc": 0, "scale": 1}, [0, 1e-300], "finite")]),
    "poisson": (poisson, [
        ({"rate": 3}, 2), ({"log_rate": -1.5}, 0), ({"rate": 40}, 45), ({"log_rate": 3}, 25)],
        [({"log_rate": -700}, 2, "finite"), ({"rate": 1e-300}, 0, "finite")]),
    "student_t": (lambda x, a: student(x, a["df"], a["loc"], a["scale"]), [
        ({"df": 3, "loc": 0, "scale": 1}, .5), ({"df": 7, "loc": -1, "scale": 2.5}, 20), ({"df": 1.5, "loc": 0, "scale": 1}, -4),
        ({"df": 4, "loc": 1, "scale": .5}, 1)], [({"df": 3, "loc": 0, "scale": 1}, 1e150, "finite")]),
    "uniform": (lambda x, a: -ln(a["upper"] - a["lower"]), [
        ({"lower": 0, "upper": 1}, .5), ({"lower": -2, "upper": 5}, 3)],
        [({"lower": 0, "upper": 1}, 2, "-inf"), ({"lower": 0, "upper": 1}, -1, "-inf")]),
    "weibull": (weibull, [
        ({"shape": 1.5, "scale": 2}, 1), ({"shape": .5, "log_scale": 1}, 9), ({"shape": 3, "log_scale": -1}, .25)],
        [({"shape": 1.5, "log_scale": 300}, 1, "finite"), ({"shape": 2, "scale": 1}, 1e-300, "finite")]),
}


def decimal(v):
    """The double nearest to v, exactly: the value that the Go test reads."""
    return [decimal(e) for e in v] if isinstance(v, list) else D(float(v))


for name, (density, cases, edges) in FAMILIES.items():
    tolerance = {"horseshoe": 1e-7}.get(name, 2e-13)  # of a quadrature, and of a formula
    integral = {"piecewise_exponential": 1e-3}.get(name, 2e-5)  # of the test's quadrature: its density jumps
    out = {"source": "golden.py, 60-digit decimal arithmetic", "cases": [], "edges": []}
    for args, x in cases:
        want = density(decimal(x), {k: decimal(v) for k, v in args.items()})
        out["cases"].append({"args": args, "x": x, "log_density": float(want)})
    for args, x, want in edges:
        out["edges"].append({"args": args, "x": x, "want": want})
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".json"), "w") as f:
        f.write("{\n \"source\": " + json.dumps(out["source"]) + ",\n \"tolerance\": " + json.dumps(tolerance)
                + ",\n \"integral_tolerance\": " + json.dumps(integral) + ",\n")
        for key in ("cases", "edges"):
            rows = ",\n".join("  " + json.dumps(c) for c in out[key])
            f.write(f" \"{key}\": [\n{rows}\n ]" + (",\n" if key == "cases" else "\n}\n"))
