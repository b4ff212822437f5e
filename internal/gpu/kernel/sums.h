// Clipped sums: Σ_b f_b·g_b of a chunk, term by term, added to a slot.
#pragma once
#include "norms.h"

// gain adds s to a sum, or, if nothing is there yet, puts it.
DEVICE void gain(double* sum, double s, bool fresh) { *sum = fresh ? s : *sum + s; }

// times is f·x, but 0 for a record that counts as zero, even if x is not finite.
DEVICE double times(double f, double x) { return f == 0 ? 0 : f * x; }

DEVICE void sumDense(Team t, const Frame& f, const Term& m, const double* factor, double* sum, bool fresh) {
    if (f.n == 1) { // no warp for one number
        each(t, m.rows, m.cols, [&](int r, int c) {
            gain(&sum[m.parameter + r * m.rowStride + c * m.colStride], times(factor[0], f.lanes[m.delta + r * m.cols + c]), fresh);
        });
        return;
    }
    eachWarp(t, m.rows * m.cols, [&](int i) {
        const double* delta = f.lanes + (m.delta + i) * f.n;
        double s = warpSum(f.n, [&](int b) { return Three{fromGlobal(factor + b), fromGlobal(delta + b), 0}; },
                           [](const Three& x) { return times(x.x, x.y); });
        int r = i / m.cols, c = i - r * m.cols;
        if (firstOfWarp()) gain(&sum[m.parameter + r * m.rowStride + c * m.colStride], s, fresh);
    });
}

DEVICE void sumOuter(Team t, const Frame& f, const Term& m, const double* factor, double* sum, bool fresh) {
    if (tiled(m.rows, m.cols)) {
        int lanes = f.n * m.width;
        Factor x = {f.lanes + (i64)m.x * f.n, lanes, 1}, delta = {f.lanes + (i64)m.delta * f.n, lanes, 1};
        return multiply(t, Product{x, delta, m.rows, m.cols, lanes, factor, f.n, sum + m.parameter, m.rowStride, m.colStride, !fresh});
    }
    eachWarp(t, m.rows * m.cols, [&](int i) {
        int r = i / m.cols, c = i - r * m.cols;
        const double *x = f.lanes + (m.x + r * m.width) * f.n, *delta = f.lanes + (m.delta + c * m.width) * f.n;
        double s = warpSum(f.n * m.width, [&](int k) { return Three{fromGlobal(factor + (m.width == 1 ? k : k % f.n)), fromGlobal(x + k), fromGlobal(delta + k)}; },
                           [](const Three& v) { return times(v.x, v.y * v.z); });
        if (firstOfWarp()) gain(&sum[m.parameter + r * m.rowStride + c * m.colStride], s, fresh);
    });
}

// RowSums are the partial sums of sumRows for some rows of X, and of some records where
// each is in the table and its weight.
enum { rowsAtATime = 128, rowWarps = 8, recordsAtATime = 1024 };
struct RowSums {
    double of[rowWarps][rowsAtATime], weights[recordsAtATime];
    u32 places[recordsAtATime];
};
static_assert(sizeof(RowSums) <= sizeof(Scratch), "they fit");

// weighRecords sets the weights and places of n records, from number `first` of the chunk
// on, and as far as all warps read them ahead, of weight 0; all threads of the block take
// part. Four are read before the first is used.
DEVICE void weighRecords(const Frame& f, const double* factor, const double* delta, int first, int n, RowSums& to) {
    enum { abreast = 4, ahead = 8 * rowWarps };
    static_assert(recordsAtATime % ahead == 0, "there is room");
    int end = (n + ahead - 1) / ahead * ahead;
    for (int begin = 0; begin < end; begin += abreast * blockThreads) {
        double weight[abreast], d[abreast];
        u32 place[abreast];
        UNROLL for (int k = 0; k < abreast; k++) {
            int b = begin + k * blockThreads + threadOfBlock();
            b = first + (b < n ? b : 0);
            weight[k] = fromGlobal(factor + b);
            d[k] = fromGlobal(delta + b);
            place[k] = recordAt(f, b);
        }
        int nothing = afterReads();
        UNROLL for (int k = 0; k < abreast; k++) {
            int b = begin + k * blockThreads + threadOfBlock();
            if (b < end) {
                to.weights[b] = b < n ? times(later(weight[k], nothing), later(d[k], nothing)) : 0;
                to.places[b] = later(place[k], nothing);
            }
        }
    }
}

// sumRows reads X from the table. A block has 128 rows of one column of the sum. Warp w of its
// 8 adds up the records b with b mod 8 = w; then these 8 sums are added.
template <class Table> DEVICE void sumRows(Team t, const Frame& f, const Table& table, const Term& m, const double* factor, double* sum, bool fresh) {
    enum { own = rowWarps * warpSize / blockThreads, abreast = Table::abreast };
    static_assert((int)rowsAtATime == (int)quadsOfWarp && abreast <= 8, "a warp reads all of them, and no farther than weights go");
    RowSums& shared = *(RowSums*)scratch();
    int before = quadsBefore(m.x), down = (before + m.rows + rowsAtATime - 1) / rowsAtATime, records = f.n;
    for (int piece = t.rank / blockThreads; piece < down * m.cols; piece += t.size / blockThreads) {
        int c = piece / down, top = piece % down * rowsAtATime;
        double s[own][4] = {};
        for (int begin = 0; begin < records; begin += recordsAtATime) {
            int n = records - begin < recordsAtATime ? records - begin : recordsAtATime;
            barrier(); // nobody needs what was there
            weighRecords(f, factor, f.lanes + (m.delta + c) * records, begin, n, shared);
            barrier();
            UNROLL for (int o = 0; o < own; o++) {
                int thread = t.rank % blockThreads + o * blockThreads, warp = thread / warpSize;
                Quad<Table> q = quadOf(table, m.x, m.rows, top + thread % warpSize * 4);
                for (int first = warp; first < n; first += abreast * rowWarps) {
                    decltype(readQuad(table, table.at(0), q)) x[abreast];
                    UNROLL for (int k = 0; k < abreast; k++) x[k] = readQuad(table, table.at(shared.places[first + k * rowWarps]), q);
                    int nothing = afterReads();
                    UNROLL for (int k = 0; k < abreast; k++) {
                        double weight = shared.weights[first + k * rowWarps];
                        u32 keep = later(weight == 0 ? 0u : ~0u, nothing); // as times
                        UNROLL for (int j = 0; j < 4; j++) s[o][j] = fma(weight, table.keptValue(x[k].x[j], q.columns[j], keep), s[o][j]);
                    }
                }
            }
        }
        UNROLL for (int o = 0; o < own; o++) {
            int thread = t.rank % blockThreads + o * blockThreads;
            UNROLL for (int j = 0; j < 4; j++) shared.of[thread / warpSize][thread % warpSize * 4 + j] = s[o][j];
        }
        barrier();
        for (int r = t.rank % blockThreads; r < rowsAtATime; r += blockThreads) {
            int row = top + r - before;
            if (row < 0 || row >= m.rows) continue;
            double s[rowWarps];
            UNROLL for (int w = 0; w < rowWarps; w++) s[w] = shared.of[w][r];
            UNROLL for (int half = 1; half < rowWarps; half *= 2)
                UNROLL for (int w = 0; w < rowWarps; w += 2 * half) s[w] += s[w + half];
            gain(&sum[m.parameter + row * m.rowStride + c * m.colStride], s[0], fresh);
        }
    }
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

// addTerms adds Σ_b factor_b·g_b, parameterCount scalars, to sum, or, if the terms
// are a partition, puts it there; a barrier has to follow.
FUNCTION void addTerms(Team t, const Frame& f, const double* factor, double* sum, bool fresh) {
    const Arguments& a = *f.a;
    int warps = 1; // of the count and of the terms before
    for (int k = 0; k < a.termCount; k++) {
        const Term& m = a.terms[k];
        if (k > 0 && a.pairCount > 0) t.sync(); // some terms share parameters
        if (m.kind == dense) sumDense(from(t, warps), f, m, factor, sum, fresh);
        else if (m.kind == scatter) sumScatter(t, f, m, factor, sum);
        else if (m.xInRows) withTable(a, [&](auto table) { sumRows(t, f, table, m, factor, sum, fresh); });
        else sumOuter(tiled(m.rows, m.cols) ? t : from(t, warps), f, m, factor, sum, fresh);
        warps += m.rows * m.cols;
    }
}

// accumulate adds the chunk to a slot, or puts it there: its sum and its count.
DEVICE void accumulate(Team t, const Frame& f, double* sum, double* count, bool fresh) {
    const double *factor = f.lanes + (i64)f.a->factorLanes * f.n, *within = factor + f.n;
    eachWarp(t, 1, [&](int) {
        double s = warpSum(f.n, [&](int b) { return fromGlobal(within + b); });
        if (firstOfWarp()) gain(count, s, fresh);
    });
    addTerms(t, f, factor, sum, fresh);
}
