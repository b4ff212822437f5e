// The regularised incomplete gamma and beta functions with derivatives in their
// parameters, as package graph has them: models/graph/incomplete.go explains.
#pragma once
#include "gamma.h"

// A Dual is a number with its derivatives in two variables.
struct Dual {
    double v, a, b;
};

DEVICE Dual operator+(Dual x, Dual y) { return Dual{x.v + y.v, x.a + y.a, x.b + y.b}; }
DEVICE Dual operator-(Dual x, Dual y) { return Dual{x.v - y.v, x.a - y.a, x.b - y.b}; }
DEVICE Dual operator*(double s, Dual x) { return Dual{x.v * s, x.a * s, x.b * s}; }
DEVICE Dual operator*(Dual x, Dual y) { return Dual{x.v * y.v, x.a * y.v + x.v * y.a, x.b * y.v + x.v * y.b}; }
DEVICE Dual operator/(Dual x, Dual y) {
    double q = x.v / y.v;
    return Dual{q, (x.a - q * y.a) / y.v, (x.b - q * y.b) / y.v};
}
DEVICE Dual constant(double v) { return Dual{v, 0, 0}; }
DEVICE Dual logarithm(Dual x) { return Dual{logarithm(x.v), x.a / x.v, x.b / x.v}; }

// softplus is log(1+e^x), sigmoid its derivative.
FUNCTION double softplus(double x) { return larger(x, 0) + log1plus(exponential(-absolute(x))); }

FUNCTION double sigmoid(double x) {
    double e = exponential(-absolute(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// Tails are the logarithms of a distribution function and of its complement.
struct Tails {
    Dual below, above;
};

DEVICE Tails swapped(Tails t) { return Tails{t.above, t.below}; }
DEVICE Tails allBelow() { return Tails{constant(0), constant(-infinity())}; }
DEVICE Tails allAbove() { return swapped(allBelow()); }

// tailsFrom completes the side whose logarithm is known.
FUNCTION Tails tailsFrom(Dual log) {
    double p = exponential(log.v);
    double other = log.v > -0.69314718055994530942 ? logarithm(-expMinus1(log.v)) : log1plus(-exponential(log.v));
    double ratio = p == 0 ? 0 : -p / exponential(other);
    return Tails{log, Dual{other, ratio * log.a, ratio * log.b}};
}

enum { incompleteTerms = 200000 };

// A Fraction evaluates 1/(b0 + a1/(b1 + ...)) from the front, by Lentz's method.
struct Fraction {
    Dual c, d, value;

    DEVICE_MEMBER void begin(Dual b) {
        d = constant(1) / b;
        c = constant(1e300);
        value = d;
    }

    // add takes the next two coefficients and reports whether the value stands.
    DEVICE_MEMBER bool add(Dual a, Dual b) {
        d = constant(1) / (b + a * d);
        c = b + a / c;
        Dual step = c * d;
        value = value * step;
        const double digits = 4e-16;
        return isNaN(step.v) || (absolute(step.v - 1) <= digits && absolute(step.a) <= digits * (1 + absolute(value.a / value.v)) &&
                                 absolute(step.b) <= digits * (1 + absolute(value.b / value.v)));
    }
};

// incompleteGamma is log P(a, x) and log Q(a, x), with derivatives in a.
FUNCTION Tails incompleteGamma(double a, double x) {
    if (isNaN(a) || isNaN(x)) return Tails{constant(nan()), constant(nan())};
    if (a <= 0 || x == infinity()) return allBelow();
    if (x <= 0 || a == infinity()) return allAbove();
    Dual shape = {a, 1, 0};
    double logX = logarithm(x);
    if (x < a + 1) {
        Dual front = {a * logX - x - logGamma(a + 1), logX - digamma(a + 1), 0}, term = constant(1), total = term;
        for (int n = 1; n < incompleteTerms && term.v > 1e-17 * total.v; n++) {
            term = x * term / (shape + constant(n));
            total = total + term;
        }
        return tailsFrom(front + logarithm(total));
    }
    Dual front = {a * logX - x - logGamma(a), logX - digamma(a), 0};
    Fraction f;
    Dual b = constant(x + 1) - shape;
    f.begin(b);
    for (int n = 1; n < incompleteTerms; n++) {
        double k = n;
        b = b + constant(2);
        if (f.add(k * (shape - constant(k)), b)) break;
    }
    return swapped(tailsFrom(front + logarithm(f.value)));
}

// betaFraction is incompleteBeta where logistic(u) is small.
FUNCTION Tails betaFraction(double u, double a, double b) {
    double x = sigmoid(u), logX = -softplus(-u), log1mX = -softplus(u);
    Dual p = {a, 1, 0}, q = {b, 0, 1}, one = constant(1);
    Dual front = {a * logX + b * log1mX + logGamma(a + b) - logGamma(a + 1) - logGamma(b),
                  logX + digamma(a + b) - digamma(a + 1), log1mX + digamma(a + b) - digamma(b)};
    Fraction f;
    f.begin(one);
    for (int n = 0; n < incompleteTerms; n++) {
        Dual k = constant(n), even = p + k + k;
        f.add(-x * ((p + k) * (p + q + k)) / (even * (even + one)), one);
        k = k + one;
        even = p + k + k;
        if (f.add(x * (k * (q - k)) / ((even - one) * even), one)) break;
    }
    return tailsFrom(front + logarithm(f.value));
}

// incompleteBeta is log I(a, b) and the log of its complement at logistic(u),
// with derivatives in a and b.
FUNCTION Tails incompleteBeta(double u, double a, double b) {
    if (isNaN(u) || isNaN(a) || isNaN(b)) return Tails{constant(nan()), constant(nan())};
    if (a <= 0 || u == infinity()) return allBelow();
    if (b <= 0 || u == -infinity()) return allAbove();
    if (sigmoid(u) < (a + 1) / (a + b + 2)) return betaFraction(u, a, b);
    Tails t = betaFraction(-u, b, a);
    Dual below = {t.below.v, t.below.b, t.below.a}, above = {t.above.v, t.above.b, t.above.a};
    return Tails{above, below};
}
