// Norms of per-record gradients from the structure of their terms, and the
// factor that each gradient is multiplied by.
#pragma once
#include "execute.h"
#include "noise.h"

// putNoise puts number i of a record's noise into the lanes that hold it.
DEVICE void putNoise(const Frame& f, int b, int i, double x) {
    for (int k = 0; k < f.a->columnCount; k++) {
        Column c = f.a->columns[k];
        if (c.drawn && i >= c.offset && i < c.offset + c.size) f.lanes[(i64)(c.at + i - c.offset) * f.n + b] = x;
    }
}

// drawNoise sets lanes to the noise of the records. Number i of the record at place j of
// the batch is number j·noiseCount + i of the step's normals. A chunk begins with a whole
// group of them, because its place is a multiple of 16.
FUNCTION void drawNoise(Team t, const Frame& f) {
    const Arguments& a = *f.a;
    int count = f.n * a.noiseCount, quarters = (count + normalGroup - 1) / normalGroup * 4;
    barrier(); // nobody needs what was in the cipher's memory
    if (t.rank - threadOfBlock() < quarters) openCipher(a.noiseKeys);
    barrier();
    each(t, quarters, 1, [&](int quarter, int) {
        int first = firstOfQuarter(quarter);
        u64 w[2][2];
        WordSource{0, true, a.step}.four(f.inBatch * a.noiseCount + first, w);
        UNROLL for (int i = 0; i < 2; i++) {
            double z[2];
            boxMuller(w[0][i], w[1][i], z);
            UNROLL for (int k = 0; k < 2; k++)
                if (int e = first + i + k * normalPairs; e < count) putNoise(f, e / a.noiseCount, e % a.noiseCount, z[k]);
        }
    });
}

// loadColumns copies columns of the table to lanes, and draws noise there; neighbouring
// threads read neighbouring columns.
DEVICE void loadColumns(Team t, const Frame& f) {
    const Arguments& a = *f.a;
    int warps = 0; // of the columns before
    for (int k = 0; k < a.columnCount; k++) {
        Column c = a.columns[k];
        if (c.drawn) continue;
        double* to = f.lanes + (i64)c.at * f.n;
        Team some = from(t, warps);
        warps += (f.n * c.size + warpSize - 1) / warpSize;
        withTable(a, [&](auto table) {
            eachFour(some, f.n, c.size, [&](int b, int i) { return table.read(table.at(recordAt(f, b)), table.column(c.offset + i)); },
                     [&](int b, int i, auto x) { to[(i64)i * f.n + b] = table.value(x, table.column(c.offset + i)); });
        });
    }
    if (a.noiseKeys) drawNoise(t, f);
    t.sync();
}

DEVICE double lane(const Frame& f, int at, int b) { return f.lanes[at * f.n + b]; }

// picked is the row that place w of record b falls on in a scatter, or -1.
DEVICE int picked(const Frame& f, const Term& t, int w, int b) { return block(lane(f, t.index + w, b), t.rows); }

// deltaDot is Delta_w·Delta'_v.
DEVICE double deltaDot(const Frame& f, const Term& s, int w, const Term& t, int v, int b) {
    double sum = 0;
    for (int c = 0; c < s.cols; c++) sum += lane(f, s.delta + c * s.width + w, b) * lane(f, t.delta + c * t.width + v, b);
    return sum;
}

// placeDot is the inner product of place w of one term with place v of another.
DEVICE double placeDot(const Frame& f, const Term& s, int w, const Term& t, int v, int b) {
    if (s.kind == scatter && t.kind == scatter) {
        int k = picked(f, s, w, b);
        return k >= 0 && k == picked(f, t, v, b) ? deltaDot(f, s, w, t, v, b) : 0;
    }
    double x = 0;
    if (s.kind == outer && t.kind == outer) {
        for (int r = 0; r < s.rows; r++) x += lane(f, s.x + r * s.width + w, b) * lane(f, t.x + r * t.width + v, b);
    } else {
        int k = s.kind == scatter ? picked(f, s, w, b) : picked(f, t, v, b);
        if (k < 0) return 0; // the term's own square is NaN
        x = s.kind == scatter ? lane(f, t.x + k * t.width + v, b) : lane(f, s.x + k * s.width + w, b);
    }
    return x * deltaDot(f, s, w, t, v, b);
}

// underflow is added to a sum of squares that is then multiplied: see internal/cpu/norms.go.
constexpr double underflow = 0x1p-1000;

// placeSize is |X_w|²|Delta_w|² of place w, or, of a scatter, |Delta_w|².
DEVICE double placeSize(const Frame& f, const Term& t, int w, int b) {
    double delta = deltaDot(f, t, w, t, w, b), x = underflow;
    if (t.kind == scatter) return delta;
    for (int r = 0; r < t.rows; r++) x += lane(f, t.x + r * t.width + w, b) * lane(f, t.x + r * t.width + w, b);
    return x * (delta + underflow);
}

// element is element (r, c) of an outer term.
DEVICE double element(const Frame& f, const Term& t, int r, int c, int b) {
    double sum = 0;
    for (int w = 0; w < t.width; w++) sum += lane(f, t.x + r * t.width + w, b) * lane(f, t.delta + c * t.width + w, b);
    return sum;
}

DEVICE double dotPiece(const Frame& f, const Dot& d, int b) {
    double sum = 0;
    if (d.kind == dotProduct) {
        for (int i = 0; i < d.count; i++) sum += lane(f, d.p + i, b) * lane(f, d.q + i, b);
        return sum;
    }
    const Term &s = f.a->terms[d.p], &t = f.a->terms[d.q];
    int at = d.count;
    if (d.kind == dotSize) {
        for (int w = 0; w < s.width; w++) sum += placeSize(f, s, w, b);
        return sum * s.width;
    }
    if (d.kind == dotElements) {
        for (int c = 0; c < s.cols; c++) {
            double x = element(f, s, at, c, b);
            sum += x * (d.p == d.q ? x : element(f, t, at, c, b));
        }
        return sum;
    }
    if (d.p != d.q) {
        for (int v = 0; v < t.width; v++) sum += placeDot(f, s, at, t, v, b);
        return sum;
    }
    if (s.kind == scatter && picked(f, s, at, b) < 0) return nan();
    for (int v = 0; v < at; v++) sum += placeDot(f, s, at, s, v, b);
    return 2 * sum + placeDot(f, s, at, s, at, b);
}

DEVICE void innerProducts(Team t, const Frame& f) {
    const Arguments& a = *f.a;
    double* dst = f.lanes + (i64)a.dotLanes * f.n;
    each(t, a.dotCount, f.n, [&](int k, int b) {
        if (a.dots[k].kind != dotLong) dst[k * f.n + b] = dotPiece(f, a.dots[k], b);
    });
    int groups = (f.n + 3) / 4; // of records
    eachWarp(t, a.longDots > 0 ? a.dotCount * groups : 0, [&](int i) {
        const Dot& d = a.dots[i / groups];
        int first = i % groups * 4;
        if (d.kind != dotLong) return;
        fourSums(d.count, [&](int r, int k) {
            int b = first + r < f.n ? first + r : first;
            return lane(f, d.p + k, b) * lane(f, d.q + k, b);
        }, [&](int r, double s) {
            if (first + r < f.n) dst[i / groups * f.n + first + r] = s;
        });
    });
    t.sync();
}

// pieces is Σ of dots [from, to) for record b.
DEVICE double pieces(const Frame& f, int from, int to, int b) {
    return sumInOrder(f.lanes + (f.a->dotLanes + from) * f.n + b, f.n, to - from);
}

// squaredNorm is |g_b|², not finite where the gradient is not. Where parts of a
// gradient can cancel, terms that share parameters or places of one term, a
// multiple of the size of the parts is added, so that it errs upwards, and a square
// that is negative by more than that is not finite: see privacy.NormSlack.
DEVICE double squaredNorm(const Frame& f, int b) {
    const Arguments& a = *f.a;
    double s = 0, size = 0;
    for (int k = 0; k < a.termCount; k++) {
        const Term& t = a.terms[k];
        double d = pieces(f, t.delta2, t.width > 1 ? t.delta2End - 1 : t.delta2End, b);
        if (t.kind == outer && t.width == 1) d = (d + underflow) * (t.xNorm2 >= 0 ? lane(f, t.xNorm2, b) : pieces(f, t.x2, t.x2End, b) + underflow);
        if (t.kind == scatter && t.width == 1 && picked(f, t, 0, b) < 0) d = nan();
        s += d;
        size += t.width > 1 ? lane(f, a.dotLanes + t.delta2End - 1, b) : d;
    }
    for (int k = 0; k < a.pairCount; k++) {
        Pair p = a.pairs[k];
        const Term &u = a.terms[p.i], &v = a.terms[p.j];
        double inner = pieces(f, p.delta, p.deltaEnd, b);
        if (p.whole) {
        } else if (u.kind == outer && v.kind == outer) {
            inner *= pieces(f, p.x, p.xEnd, b);
        } else if (u.kind == scatter && v.kind == scatter) {
            if (picked(f, u, 0, b) != picked(f, v, 0, b)) continue;
        } else {
            const Term &o = u.kind == outer ? u : v, &c = u.kind == outer ? v : u;
            int row = picked(f, c, 0, b);
            if (row < 0) continue; // the squares made s NaN
            inner *= lane(f, o.x + row, b);
        }
        s += 2 * inner;
    }
    double slack = a.slack > 0 ? a.slack * size : 0;
    if (s < -slack) return nan();
    return (s < 0 ? 0 : s) + slack;
}

// clipFactor is privacy.Clip.Factor.
DEVICE double clipFactor(const Frame& f, double norm) {
    if (f.a->clipKind == unclipped) return 1;
    if (f.a->clipKind == automatic) return f.clipNorm / (norm + f.a->clipGamma);
    return norm <= f.clipNorm ? 1 : f.clipNorm / norm;
}

// clip sets each record's factor and its part in the count, 1[|g| <= C] - 1/2.
// A record that is invalid or whose norm is not finite is a zero gradient:
// factor 0, and within C.
DEVICE void clip(Team t, const Frame& f) {
    const Arguments& a = *f.a;
    double *factor = f.lanes + (i64)a.factorLanes * f.n, *within = factor + f.n;
    each(t, 1, f.n, [&](int, int b) {
        bool valid = fromGlobal(a.valid + recordAt(f, b)); // on its way while the norm is computed
        double norm = squareRoot(squaredNorm(f, b));
        if (!isFinite(norm) || !valid) {
            factor[b] = 0;
            within[b] = 0.5;
            return;
        }
        factor[b] = clipFactor(f, norm);
        within[b] = norm <= f.clipNorm ? 0.5 : -0.5;
    });
    t.sync();
}
