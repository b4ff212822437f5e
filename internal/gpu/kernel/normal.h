// The error function and the normal distribution function. The error function
// follows FreeBSD's s_erf.c, as Go's math.Erf does:
//
// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
// Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use,
// copy, modify, and distribute this software is freely granted, provided that
// this notice is preserved.
#pragma once
#include "gamma.h"

CONSTANT double erfP[5] = {
    1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
    -5.77027029648944159157e-03, -2.37630166566501626084e-05,
};
CONSTANT double erfQ[6] = {
    1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
    1.32494738004321644526e-04, -3.96022827877536812320e-06,
};
CONSTANT double erfPA[7] = {
    -2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
    3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
    -2.16637559486879084300e-03,
};
CONSTANT double erfQA[7] = {
    1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
    1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02,
};
CONSTANT double erfRA[8] = {
    -9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
    -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
    -8.12874355063065934246e+01, -9.81432934416914548592e+00,
};
CONSTANT double erfSA[9] = {
    1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
    6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
    6.57024977031928170135e+00, -6.04244152148580987438e-02,
};
CONSTANT double erfRB[7] = {
    -9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
    -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
    -4.83519191608651397019e+02,
};
CONSTANT double erfSB[8] = {
    1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
    3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
    -2.24409524465858183362e+01,
};

#define ERX 8.45062911510467529297e-01

// errorTail is erfc(x) for 1.25 <= x < 28.
FUNCTION double errorTail(double x) {
    double s = 1 / (x * x);
    double q = x < 1 / 0.35 ? POLYNOMIAL(erfRA, s) / POLYNOMIAL(erfSA, s) : POLYNOMIAL(erfRB, s) / POLYNOMIAL(erfSB, s);
    double z = fromBits(bits(x) & 0xffffffff00000000); // few bits, so that z² is exact
    return exponential(-z * z - 0.5625) * exponential((z - x) * (z + x) + q) / x;
}

FUNCTION double errorFunction(double x) {
    if (isNaN(x)) return nan();
    double size = absolute(x), y;
    if (size < 0.84375) {
        if (size < 0x1p-28) return size < 0x1p-1015 ? 0.125 * (8 * x + 1.02703333676410069053 * x) : x + 1.28379167095512586316e-01 * x;
        double z = x * x;
        return x + x * (POLYNOMIAL(erfP, z) / POLYNOMIAL(erfQ, z));
    }
    if (size < 1.25) y = ERX + POLYNOMIAL(erfPA, size - 1) / POLYNOMIAL(erfQA, size - 1);
    else y = size >= 6 ? 1 : 1 - errorTail(size);
    return withSign(y, x);
}

// errorComplement is 1 - erf(x), accurate in the upper tail.
FUNCTION double errorComplement(double x) {
    if (isNaN(x)) return nan();
    double size = absolute(x);
    if (size < 0.84375) {
        if (size < 0x1p-56) return 1 - x;
        double z = x * x, y = x * (POLYNOMIAL(erfP, z) / POLYNOMIAL(erfQ, z));
        return x < 0.25 ? 1 - (x + y) : 0.5 - (y + (x - 0.5));
    }
    if (size < 1.25) {
        double y = POLYNOMIAL(erfPA, size - 1) / POLYNOMIAL(erfQA, size - 1);
        return x < 0 ? 1 + ERX + y : 1 - ERX - y;
    }
    if (x < -6) return 2;
    if (x >= 28) return 0;
    return x < 0 ? 2 - errorTail(size) : errorTail(size);
}

// normalCDF is Φ(x).
FUNCTION double normalCDF(double x) { return 0.5 * errorComplement(-x / 1.41421356237309504880); }

// logNormalCDF is log Φ(x). Below -30, where Φ nears the smallest double, it is
// the asymptotic series, Abramowitz and Stegun 26.2.12.
FUNCTION double logNormalCDF(double x) {
    if (x > 0) return log1plus(-normalCDF(-x));
    if (x > -30) return logarithm(normalCDF(x));
    double r = 1 / (x * x);
    return -0.5 * x * x - logarithm(-x) - 0.5 * 1.83787706640934548356 + log1plus(-r * (1 - r * (3 - r * (15 - r * 105))));
}
