// Gaussian noise on a lattice, as package privacy/noise adds it, in all but about
// one of ten million cases, which are left to it. The same words give the same
// bits: every rounding is fixed.
#pragma once
#include "aes.h"
#include "bits.h"

// normalLogarithm is log x of a positive, finite, normal x: noise/elementary.go.
FUNCTION double normalLogarithm(double x) {
    u64 shifted = bits(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    double k = (double)((i64)(shifted >> 52) - 1023);
    double f = fromBits((shifted & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    double s = f / (2 + f), z = s * s;
    double r = fma(z, 1.479819860511658591e-01, 1.531383769920937332e-01);
    r = fma(z, r, 1.818357216161805012e-01);
    r = fma(z, r, 2.222219843214978396e-01);
    r = fma(z, r, 2.857142874366239149e-01);
    r = fma(z, r, 3.999999999940941908e-01);
    r = fma(z, r, 6.666666666666735130e-01);
    double half = 0.5 * f * f;
    double tail = fma(s, fma(z, r, half), k * 1.90821492927058770002e-10);
    return fma(k, 6.93147180369123816490e-01, f - (half - tail));
}

// turn sets sine and cosine of 2π w/2^64.
FUNCTION void turn(u64 w, double* sine, double* cosine) {
    u64 quarter = (w + (1ull << 61)) >> 62 & 3;
    double y = (double)(i64)(w - (quarter << 62)) * (6.28318530717958647692 * 0x1p-64), z = y * y;
    double p = fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
    p = fma(z, p, 2.75573137070700676789e-06);
    p = fma(z, p, -1.98412698298579493134e-04);
    p = fma(z, p, 8.33333333332248946124e-03);
    p = fma(z, p, -1.66666666666666324348e-01);
    double s = fma(y * z, p, y);
    p = fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
    p = fma(z, p, -2.75573143513906633035e-07);
    p = fma(z, p, 2.48015872894767294178e-05);
    p = fma(z, p, -1.38888888888741095749e-03);
    p = fma(z, p, 4.16666666666666019037e-02);
    double h = 0.5 * z, t = 1 - h;
    double c = t + fma(z * z, p, (1 - t) - h);
    switch (quarter) {
    case 0: *sine = s; *cosine = c; return;
    case 1: *sine = c; *cosine = -s; return;
    case 2: *sine = -s; *cosine = -c; return;
    }
    *sine = -c;
    *cosine = s;
}

// boxMuller sets z to the two normals of a word for the radius and one for the angle.
DEVICE void boxMuller(u64 radius, u64 angle, double* z) {
    double r = squareRoot(-2 * normalLogarithm(((double)radius + 1) * 0x1p-64));
    turn(angle, &z[1], &z[0]);
    z[0] *= r;
    z[1] *= r;
}

enum { normalGroup = 16, normalPairs = 8 };

// A WordSource has the words of one step's noise, or says that the cipher in
// shared memory makes them.
struct WordSource {
    const u64* words;
    bool ciphered;
    u64 step;

    // four sets to[0] to words i and i+1, i even, and to[1] to those eight further on.
    DEVICE_MEMBER void four(i64 i, u64 (*to)[2]) const {
        if (ciphered) {
            u64 blocks[2] = {(u64)i / 2, (u64)i / 2 + normalPairs / 2};
            encryptCounters(step, blocks, to);
        } else {
            for (int k = 0; k < 4; k++) to[k / 2][k % 2] = words[i + k / 2 * normalPairs + k % 2];
        }
    }
};

// onLattice returns the multiple of the lattice's spacing nearest to x + sigma·z;
// *certain becomes false if double precision does not decide which.
DEVICE double onLattice(double x, double z, double sigma, bool* certain) {
    // the largest power of two that is at most sigma/2^10
    double spacing = fromBits((bits(sigma) >> 52 << 52) - (10ull << 52)), perSpacing = 1 / spacing;
    double t = (x + sigma * z) * perSpacing;
    double nearest = (t + 0x1.8p52) - 0x1.8p52;
    if (!(absolute(t - nearest) < 0.5 - (0x1p-28 + 0x1p-51 * absolute(t)))) *certain = false;
    return nearest * spacing;
}

// firstOfQuarter is the first number of a quarter of a group of 16: of the four that take
// their words from the same two blocks of the stream, as noise.Stream.Normals deals them
// out. The others are the next one, and those eight further on.
DEVICE int firstOfQuarter(int quarter) { return quarter / 4 * normalGroup + quarter % 4 * 2; }

// drawQuarter sets z[k][i] to the normal for number first + i + k·normalPairs, or to NaN if
// further bits of its word could change it.
DEVICE void drawQuarter(int first, const WordSource& words, double (*z)[2]) {
    u64 w[2][2];
    words.four(first, w);
    UNROLL for (int i = 0; i < 2; i++) {
        double pair[2];
        boxMuller(w[0][i], w[1][i], pair);
        bool sensitive = w[0][i] - (1ull << 40) > (0ull - (1ull << 39)) - (1ull << 40);
        UNROLL for (int k = 0; k < 2; k++) z[k][i] = sensitive ? nan() : pair[k];
    }
}

// eachOfQuarter calls f(i, k, number) for the numbers below n of a quarter.
template <class F> DEVICE void eachOfQuarter(int quarter, int n, F f) {
    UNROLL for (int k = 0; k < 2; k++)
        UNROLL for (int i = 0; i < 2; i++)
            if (int number = firstOfQuarter(quarter) + i + k * normalPairs; number < n) f(i, k, number);
}

// addGaussians sets the numbers of a quarter of the vector x of n to exact(i) and noise, of
// normals z. If double precision is not certain of all it sets them to exact(i) and
// returns false.
template <class F> DEVICE bool addGaussians(double* x, int n, int quarter, const double (*z)[2], double sigma, F exact) {
    bool certain = true;
    double from[2][2], to[2][2];
    eachOfQuarter(quarter, n, [&](int i, int k, int number) { from[k][i] = exact(number); });
    eachOfQuarter(quarter, n, [&](int i, int k, int) { to[k][i] = onLattice(from[k][i], z[k][i], sigma, &certain); });
    eachOfQuarter(quarter, n, [&](int i, int k, int number) { x[number] = certain ? to[k][i] : from[k][i]; });
    return certain;
}
