// Clipped sums: Σ_b f_b·g_b of a chunk, term by term, added to a slot.
#pragma once
#include "norms.h"

// times is f·x, but 0 for a record that counts as zero, even if x is not finite.
DEVICE double times(double f, double x) { return f == 0 ? 0 : f * x; }

DEVICE void sumDense(Team t, const Frame& f, const Term& m, const double* factor, double* sum) {
    if (f.n == 1) { // no warp for one number
        each(t, m.rows, m.cols, [&](int r, int c) {
            sum[m.parameter + r * m.rowStride + c * m.colStride] += times(factor[0], f.lanes[m.delta + r * m.cols + c]);
        });
        return;
    }
    eachWarp(t, m.rows * m.cols, [&](int i) {
        const double* delta = f.lanes + (m.delta + i) * f.n;
        double s = warpSum(f.n, [&](int b) { return times(factor[b], delta[b]); });
        int r = i / m.cols, c = i - r * m.cols;
        if (firstOfWarp()) sum[m.parameter + r * m.rowStride + c * m.colStride] += s;
    });
}

DEVICE void sumOuter(Team t, const Frame& f, const Term& m, const double* factor, double* sum) {
    if (tiled(m.rows, m.cols)) {
        int lanes = f.n * m.width;
        Factor x = {f.lanes + (i64)m.x * f.n, lanes, 1}, delta = {f.lanes + (i64)m.delta * f.n, lanes, 1};
        return multiply(t, Product{x, delta, m.rows, m.cols, lanes, factor, f.n, sum + m.parameter, m.rowStride, m.colStride, true});
    }
    eachWarp(t, m.rows * m.cols, [&](int i) {
        int r = i / m.cols, c = i - r * m.cols;
        const double *x = f.lanes + (m.x + r * m.width) * f.n, *delta = f.lanes + (m.delta + c * m.width) * f.n;
        double s = m.width == 1 ? warpSum(f.n, [&](int b) { return times(factor[b], x[b] * delta[b]); })
                                : warpSum(f.n * m.width, [&](int k) { return times(factor[k % f.n], x[k] * delta[k]); });
        if (firstOfWarp()) sum[m.parameter + r * m.rowStride + c * m.colStride] += s;
    });
}

// sumRows reads X from the table, neighbouring threads neighbouring columns. A
// record that counts as zero is not read.
DEVICE void sumRows(Team t, const Frame& f, const Term& m, const double* factor, double* sum) {
    each(t, m.cols, m.rows, [&](int c, int r) {
        const double* delta = f.lanes + (m.delta + c) * f.n;
        double s = 0;
        for (int b = 0; b < f.n; b++)
            if (factor[b] != 0) s += factor[b] * delta[b] * tableAt(*f.a, recordAt(f, b), m.x + r);
        sum[m.parameter + r * m.rowStride + c * m.colStride] += s;
    });
}

// sumScatter: the first place of the chunk's records on a row adds up all of
// that row, in their order, so that no two threads write to one parameter.
DEVICE void sumScatter(Team t, const Frame& f, const Term& m, const double* factor, double* sum) {
    int places = m.width * f.n; // place w of record b is number w·n + b
    each(t, m.cols, places, [&](int c, int first) {
        int row = picked(f, m, 0, first);
        if (row < 0) return;
        for (int k = 0; k < first; k++)
            if (picked(f, m, 0, k) == row) return;
        double s = 0;
        for (int k = first; k < places; k++)
            if (picked(f, m, 0, k) == row) s += times(factor[k % f.n], lane(f, m.delta + c * m.width, k));
        sum[m.parameter + row * m.rowStride + c * m.colStride] += s;
    });
}

// addTerms adds Σ_b factor_b·g_b, parameterCount scalars, to sum; a barrier has to
// follow.
FUNCTION void addTerms(Team t, const Frame& f, const double* factor, double* sum) {
    const Arguments& a = *f.a;
    for (int k = 0; k < a.termCount; k++) {
        const Term& m = a.terms[k];
        if (k > 0 && a.pairCount > 0) t.sync(); // some terms share parameters
        if (m.kind == dense) sumDense(t, f, m, factor, sum);
        else if (m.kind == scatter) sumScatter(t, f, m, factor, sum);
        else if (m.xInRows) sumRows(t, f, m, factor, sum);
        else sumOuter(t, f, m, factor, sum);
    }
}

// accumulate adds the chunk to a slot: its sum and its count.
DEVICE void accumulate(Team t, const Frame& f, double* sum, double* count) {
    const double *factor = f.lanes + (i64)f.a->factorLanes * f.n, *within = factor + f.n;
    eachWarp(t, 1, [&](int) {
        double s = warpSum(f.n, [&](int b) { return within[b]; });
        if (firstOfWarp()) *count += s;
    });
    addTerms(t, f, factor, sum);
}
