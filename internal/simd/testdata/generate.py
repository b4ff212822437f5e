#!/usr/bin/env python3
"""Coefficients of the special functions and the values they are tested against.

    python3 generate.py coefficients    # for ../coefficients.go
    python3 generate.py > functions.txt # function, argument, value: float64 in hex, the value as two summands

Needs mpmath 1.3. Polynomials interpolate at Chebyshev points with 60 digits.
"""
import random
import sys
from mpmath import mp, mpf, cos, digamma, erf, erfc, exp, expm1, factorial, log, log1p, loggamma, ncdf, nstr, pi, polyval, rf, sqrt, stirling1, tanh

mp.dps = 60


def interpolant(f, a, b, degree):
    """Monomial coefficients, lowest first."""
    n = degree + 1
    xs = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    c = [f(x) for x in xs]
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (xs[i] - xs[i - j])
    p = [c[-1]]
    for i in range(n - 2, -1, -1):
        p = [c[i] - xs[i] * p[0]] + [p[j] - xs[i] * p[j + 1] for j in range(len(p) - 1)] + [p[-1]]
    worst = max(abs(polyval(p[::-1], x) / f(x) - 1) for x in [a + (b - a) * (k + mpf("0.37")) / 500 for k in range(500)])
    return p, worst


def mills(t):
    """exp(t²/2)·Φ(-t)"""
    return exp(t * t / 2) * erfc(t / sqrt(mpf(2))) / 2


def coefficients():
    def table(name, doc, p, worst=None):
        print(f"\n// {doc}" + (f" Relative error below {nstr(worst * mpf('1.05'), 2)}." if worst else ""))
        print(f"var {name} = [...]float64{{")
        for x in p[::-1]:
            print(f"\t{float(x).hex()},")
        print("}")

    at = lambda s: 5 * (1 + s) / (1 - s)
    p, worst = interpolant(lambda s: (1 + at(s)) * mills(at(s)), mpf(-1), 1 - mpf(10) ** -9, 24)
    table("millsCoefficients", "millsCoefficients are of (1+t)·exp(t²/2)·Φ(-t) in (t-5)/(t+5), t >= 0.", p, worst)
    p, worst = interpolant(lambda z: erf(sqrt(z)) / sqrt(z) if z else 2 / sqrt(pi), mpf(10) ** -30, mpf(1), 11)
    table("erfCoefficients", "erfCoefficients are of erf(x)/x in x², |x| <= 1.", p, worst)
    p, worst = interpolant(lambda z: loggamma(2 + z) / z, mpf("-0.5"), mpf("0.5") + mpf(10) ** -20, 19)
    table("lgammaCoefficients", "lgammaCoefficients are of log Γ(2+z)/z, |z| <= 1/2.", p, worst)
    table("risingCoefficients", "risingCoefficients are of x(x+1)···(x+9)/x, whole numbers.",
          [abs(stirling1(10, k)) for k in range(1, 11)])


def values():
    rng = random.Random(1)
    tails = [10.0 ** rng.uniform(-12, 0) for _ in range(16)]
    around = lambda *points: [p + s * t for p in points for s in (-1, 1) for t in tails]
    both = lambda scale, n: [rng.gauss(0, scale) for _ in range(n)]
    functions = [
        ("expm1", expm1, around(0) + both(2, 150) + both(50, 100) + [700.0, -700.0, 5e-324]),
        ("log1p", log1p, around(0) + [rng.uniform(-1, 3) for _ in range(150)] + [10.0 ** rng.uniform(0, 300) for _ in range(50)] + [-1 + 1e-12, 5e-324]),
        ("tanh", tanh, around(0) + both(1, 150) + both(10, 100) + [25.0, -25.0, 5e-324]),
        ("erf", erf, around(0, 1, -1) + both(1, 150) + both(3, 100) + [7.0, -7.0]),
        ("normalCDF", ncdf, around(0, 5, -5) + both(1, 150) + both(10, 150) + [-37.0, 9.0, -37.4]),
        ("logNormalCDF", lambda x: log(ncdf(x)) if x < 0 else log1p(-ncdf(-x)), around(0, -30) + both(1, 150) + both(10, 150) + [-1e3, -1e5]),
        ("gelu", lambda x: x * ncdf(x), around(0) + both(1, 150) + both(10, 100)),
        ("lgamma", loggamma, around(1, 2, 0.5, 1.5, 2.5, 8) + [10.0 ** rng.uniform(-300, 300) for _ in range(100)] + [rng.uniform(0, 12) for _ in range(200)]),
        ("digamma", lambda x: digamma(x), around(1, 1.4616321449683622, 10) + [10.0 ** rng.uniform(-300, 300) for _ in range(100)] + [rng.uniform(0, 12) for _ in range(200)]),
    ]
    for name, f, arguments in functions:
        for x in arguments:
            if name in ("lgamma", "digamma") and x <= 0:
                continue
            y = f(mpf(x))
            print(name, float(x).hex(), float(y).hex(), float(y - mpf(float(y))).hex())


coefficients() if sys.argv[1:] == ["coefficients"] else values()
