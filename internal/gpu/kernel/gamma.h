// The logarithm of the gamma function and its first two derivatives. The first
// follows FreeBSD's e_lgamma_r.c, as Go's math.Lgamma does:
//
// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
// Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use,
// copy, modify, and distribute this software is freely granted, provided that
// this notice is preserved.
#pragma once
#include "trigonometric.h"

// polynomial is c[0] + c[1]·x + ... + c[n-1]·x^(n-1).
DEVICE double polynomial(const double* c, int n, double x) {
    double y = c[n - 1];
    for (int i = n - 2; i >= 0; i--) y = c[i] + x * y;
    return y;
}

#define POLYNOMIAL(c, x) polynomial(c, sizeof(c) / sizeof(*c), x)

CONSTANT double gammaA0[6] = {
    7.72156649015328655494e-02, 6.73523010531292681824e-02, 7.38555086081402883957e-03,
    1.19270763183362067845e-03, 2.20862790713908385557e-04, 2.52144565451257326939e-05,
};
CONSTANT double gammaA1[6] = {
    3.22467033424113591611e-01, 2.05808084325167332806e-02, 2.89051383673415629091e-03,
    5.10069792153511336608e-04, 1.08011567247583939954e-04, 4.48640949618915160150e-05,
};
CONSTANT double gammaR[7] = {
    1, 1.39200533467621045958e+00, 7.21935547567138069525e-01, 1.71933865632803078993e-01,
    1.86459191715652901344e-02, 7.77942496381893596434e-04, 7.32668430744625636189e-06,
};
CONSTANT double gammaS[7] = {
    -7.72156649015328655494e-02, 2.14982415960608852501e-01, 3.25778796408930981787e-01,
    1.46350472652464452805e-01, 2.66422703033638609560e-02, 1.84028451407337715652e-03,
    3.19475326584100867617e-05,
};
CONSTANT double gammaT0[5] = {
    4.83836122723810047042e-01, -3.27885410759859649565e-02, 6.10053870246291332635e-03,
    -1.40346469989232843813e-03, 3.15632070903625950361e-04,
};
CONSTANT double gammaT1[5] = {
    -1.47587722994593911752e-01, 1.79706750811820387126e-02, -3.68452016781138256760e-03,
    8.81081882437654011382e-04, -3.12754168375120860518e-04,
};
CONSTANT double gammaT2[5] = {
    6.46249402391333854778e-02, -1.03142241298341437450e-02, 2.25964780900612472250e-03,
    -5.38595305356740546715e-04, 3.35529192635519073543e-04,
};
CONSTANT double gammaU[6] = {
    -7.72156649015328655494e-02, 6.32827064025093366517e-01, 1.45492250137234768737e+00,
    9.77717527963372745603e-01, 2.28963728064692451092e-01, 1.33810918536787660377e-02,
};
CONSTANT double gammaV[6] = {
    1, 2.45597793713041134822e+00, 2.12848976379893395361e+00, 7.69285150456672783825e-01,
    1.04222645593369134254e-01, 3.21709242282423911810e-03,
};
CONSTANT double gammaW[6] = {
    8.33333333333329678849e-02, -2.77777777728775536470e-03, 7.93650558643019558500e-04,
    -5.95187557450339963135e-04, 8.36339918996282139126e-04, -1.63092934096575273989e-03,
};

// sineOfTurns is sin(πx) for x >= 0.
DEVICE double sineOfTurns(double x) {
    double whole = floorOf(x), f = x - whole; // exact
    double s = f < 0.25 ? sine(PI * f) : f < 0.75 ? cosine(PI * (0.5 - f)) : sine(PI * (1 - f));
    return absolute(whole) < 0x1p53 && ((u64)whole & 1) ? -s : s;
}

// logGammaBelow2 is log Γ(x) for 0 < x < 2, from series about 1, about the
// minimum at 1.4616... and about 2.
FUNCTION double logGammaBelow2(double x) {
    const double minimum = 1.46163214496836224576, value = -1.21486290535849611461e-01, tail = -3.63867699703950536541e-18;
    const double low = 1.2316321449683623, high = 1.7316321449683623;
    double below = x <= 0.9 ? 1 : 0; // Γ(x) = Γ(x+1)/x
    double result = below ? -logarithm(x) : 0;
    if (x >= high - below) {
        double y = (2 - below) - x, z = y * y;
        double p = y * POLYNOMIAL(gammaA0, z) + z * POLYNOMIAL(gammaA1, z);
        return result + (p - 0.5 * y);
    }
    if (x >= low - below) {
        double y = x - (minimum - below), z = y * y, w = z * y;
        double p = z * POLYNOMIAL(gammaT0, w) - (tail - w * (POLYNOMIAL(gammaT1, w) + y * POLYNOMIAL(gammaT2, w)));
        return result + (value + p);
    }
    double y = x - (1 - below);
    return result + (-0.5 * y + y * POLYNOMIAL(gammaU, y) / POLYNOMIAL(gammaV, y));
}

// logGammaAbove2 is log Γ(x) for x >= 2: a rational function up to 8, then
// Stirling's series.
FUNCTION double logGammaAbove2(double x) {
    if (x >= 0x1p58) return x * (logarithm(x) - 1);
    if (x >= 8) {
        double z = 1 / x;
        return (x - 0.5) * (logarithm(x) - 1) + (4.18938533204672725052e-01 + z * POLYNOMIAL(gammaW, z * z));
    }
    int i = (int)x;
    double y = x - i, product = 1; // Γ(1+s) = s Γ(s)
    double result = 0.5 * y + y * POLYNOMIAL(gammaS, y) / POLYNOMIAL(gammaR, y);
    for (; i >= 3; i--) product *= y + (i - 1);
    return product == 1 ? result : result + logarithm(product);
}

FUNCTION double logGamma(double x) {
    if (!isFinite(x)) return x;
    if (x == 0) return infinity();
    double size = absolute(x);
    if (size < 0x1p-70) return -logarithm(size);
    double reflected = 0;
    if (x < 0) {
        double s = size >= 0x1p52 ? 0 : sineOfTurns(size);
        if (s == 0) return infinity();
        reflected = logarithm(PI / absolute(s * size));
    }
    double result = size == 1 || size == 2 ? 0 : size < 2 ? logGammaBelow2(size) : logGammaAbove2(size);
    return x < 0 ? reflected - result : result;
}

// digamma is d/dx log Γ(x): reflection, recurrence to x >= 10, asymptotic
// series. Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18. NaN at the poles.
FUNCTION double digamma(double x) {
    if (x == infinity()) return x;
    double reflected = 0;
    if (x <= 0) {
        if (x == floorOf(x)) return nan();
        reflected = -PI * cosine(PI * x) / sine(PI * x);
        x = 1 - x;
    }
    double s = 0;
    for (; x < 10; x++) s -= 1 / x;
    double r = 1 / (x * x);
    return reflected + (s + logarithm(x) - 0.5 / x -
           r * (1. / 12 - r * (1. / 120 - r * (1. / 252 - r * (1. / 240 - r * (1. / 132 - r * (691. / 32760 - r / 12)))))));
}

// trigamma is d²/dx² log Γ(x), by the same route. Abramowitz and Stegun 6.4.6,
// 6.4.7, 6.4.12.
FUNCTION double trigamma(double x) {
    double reflected = 0, sign = 1;
    if (x <= 0) {
        if (x == floorOf(x)) return nan();
        double s = PI / sine(PI * x);
        reflected = s * s;
        sign = -1;
        x = 1 - x;
    }
    double s = 0;
    for (; x < 10; x++) s += 1 / (x * x);
    double r = 1 / (x * x);
    return reflected + sign * (s + 1 / x + r / 2 +
           r / x * (1. / 6 - r * (1. / 30 - r * (1. / 42 - r * (1. / 30 - r * (5. / 66 - r * (691. / 2730 - r * 7. / 6)))))));
}
