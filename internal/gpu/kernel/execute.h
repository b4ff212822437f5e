// The interpreter of a tape's instructions.
#pragma once
#include "chain.h"
#include "quads.h"

// block is the block of a table of `rows` that index x means, or -1.
DEVICE int block(double x, int rows) { return x > -1 && x < (double)rows ? (int)x : -1; }

// elementwise runs one function over all elements.
template <class F> DEVICE void elementwise(Team t, const Frame& f, const Instr& in, double* dst, F function) {
    View x = view(f, in.a);
    each(t, in.size, f.n, [&](int i, int b) { dst[i * f.n + b] = function(x.at(i, b)); });
}

template <class F> DEVICE void elementwise2(Team t, const Frame& f, const Instr& in, double* dst, F function) {
    View x = view(f, in.a), y = view(f, in.b);
    each(t, in.size, f.n, [&](int i, int b) { dst[i * f.n + b] = function(x.at(i, b), y.at(i, b)); });
}

// reduce folds the sources of each target in their order.
template <class F> DEVICE void reduce(Team t, const Frame& f, const Instr& in, double* dst, double start, F fold) {
    View x = view(f, in.a);
    const int *offsets = f.a->indices + in.into, *sources = offsets + in.size + 1;
    each(t, in.size, f.n, [&](int i, int b) {
        double s = start;
        for (int k = offsets[i]; k < offsets[i + 1]; k++) s = fold(s, x.at(sources[k], b));
        dst[i * f.n + b] = s;
    });
}

DEVICE void matVec(Team t, const Frame& f, const Instr& in, double* dst) {
    View w = view(f, in.a), x = view(f, in.b);
    int lanes = in.width * f.n;
    if (x.record == 1 && tiled(in.rows, in.cols)) { // however many records: tiles show in the bits
        Product p = {{w.values, in.rowStep, in.colStep}, {x.values, 1, lanes}, in.rows, lanes, in.cols, 0, 0, dst, lanes, 1, false};
        if (isSingle(f, in.rows, in.cols)) multiplySingle(t, p);
        else multiply(t, p);
        return;
    }
    each(t, in.size, f.n, [&](int i, int b) {
        int r = i / in.width, k = i - r * in.width;
        double s = 0;
        for (int c = 0; c < in.cols; c++)
            s = fma(w.values[r * in.rowStep + c * in.colStep], x.values[(c * in.width + k) * x.element + b * x.record], s);
        dst[i * f.n + b] = s;
    });
}

// rowMatVec reads the records' columns in place, a warp those of several records at a time.
template <class Table> DEVICE void rowMatVec(Team t, const Frame& f, const Table& table, const Instr& in, double* dst) {
    enum { records = Table::abreast, threads = blockThreads == 1 ? 1 : (int)warpSize, own = warpSize / threads };
    const double* w = view(f, in.a).values;
    int n = f.n, first = in.b.at, width = quadsBefore(first) + in.cols;
    Quad<Table> quads[own];
    double weights[own][4];
    for (int row = 0; row < in.rows; row++) {
        auto readWeights = [&](int begin) {
            UNROLL for (int o = 0; o < own; o++) {
                int place = begin + (threadOfBlock() % warpSize + o) * 4, c = place - quadsBefore(first);
                quads[o] = quadOf(table, first, in.cols, place);
                UNROLL for (int j = 0; j < 4; j++) // outside they multiply 0
                    weights[o][j] = fromGlobal(w + (i64)row * in.rowStep + (i64)(quads[o].inside[j] ? c + j : 0) * in.colStep);
            }
        };
        readWeights(0);
        eachWarp(t, (n + records - 1) / records, [&](int group) {
            decltype(table.at(0)) at[records];
            rowsAt<records>(f, table, group * records, at);
            double sums[own][records] = {};
            for (int begin = 0; begin < width; begin += quadsOfWarp) {
                if (width > quadsOfWarp) readWeights(begin);
                UNROLL for (int o = 0; o < own; o++) {
                    decltype(readQuad(table, at[0], quads[0])) x[records];
                    UNROLL for (int k = 0; k < records; k++) x[k] = readQuad(table, at[k], quads[o]);
                    int nothing = afterReads();
                    UNROLL for (int j = 0; j < 4; j++) {
                        u32 keep = later(quads[o].inside[j], nothing);
                        UNROLL for (int k = 0; k < records; k++)
                            sums[o][k] = fma(weights[o][j], table.keptValue(x[k].x[j], quads[o].columns[j], keep), sums[o][k]);
                    }
                }
            }
            totals<own, records>(sums, [&](int k, double s) {
                if (group * records + k < n) dst[row * n + group * records + k] = s;
            });
        });
    }
}

DEVICE void outerProduct(Team t, const Frame& f, const Instr& in, double* dst) {
    View x = view(f, in.a), y = view(f, in.b);
    each(t, in.size, f.n, [&](int i, int b) {
        int r = i / in.cols, c = i - r * in.cols;
        double s = 0;
        for (int k = 0; k < in.width; k++)
            s += x.values[(r * in.width + k) * x.element + b * x.record] * y.values[(c * in.width + k) * y.element + b * y.record];
        dst[i * f.n + b] = s;
    });
}

DEVICE void gather(Team t, const Frame& f, const Instr& in, double* dst) {
    View x = view(f, in.a), index = view(f, in.b);
    each(t, in.size, f.n, [&](int i, int b) {
        int c = i / in.width, k = block(index.at(i - c * in.width, b), in.rows);
        dst[i * f.n + b] = k < 0 ? nan() : x.values[(k * in.cols + c) * x.element + b * x.record];
    });
}

DEVICE void scatterBlocks(Team t, const Frame& f, const Instr& in, double* dst) {
    View x = view(f, in.a), index = view(f, in.b);
    each(t, in.size, f.n, [&](int i, int b) {
        int r = i / in.cols, c = i - r * in.cols;
        double s = 0;
        for (int w = 0; w < in.width; w++) {
            int k = block(index.at(w, b), in.rows);
            if (k < 0) s = nan();
            if (k == r) s += x.at(c * in.width + w, b);
        }
        dst[i * f.n + b] = s;
    });
}

// run executes one instruction.
DEVICE void run(Team t, const Frame& f, const Instr& in, double* dst) {
    switch (in.op) {
    case opAdd: return elementwise2(t, f, in, dst, [](double x, double y) { return x + y; });
    case opSub: return elementwise2(t, f, in, dst, [](double x, double y) { return x - y; });
    case opMul: return elementwise2(t, f, in, dst, [](double x, double y) { return x * y; });
    case opNeg: return elementwise(t, f, in, dst, [](double x) { return -x; });
    case opCopy: return elementwise(t, f, in, dst, [](double x) { return x; });
    case opSquare: return elementwise(t, f, in, dst, [](double x) { return x * x; });
    case opExp: return elementwise(t, f, in, dst, [](double x) { return exponential(x); });
    case opSum: return reduce(t, f, in, dst, 0, [](double s, double x) { return s + x; });
    case opMaxReduce: return reduce(t, f, in, dst, -infinity(), [](double s, double x) { return larger(s, x); });
    case opMatVec: return matVec(t, f, in, dst);
    case opRowMatVec: return withTable(*f.a, [&](auto table) { rowMatVec(t, f, table, in, dst); });
    case opOuter: return outerProduct(t, f, in, dst);
    case opGather: return gather(t, f, in, dst);
    case opScatter: return scatterBlocks(t, f, in, dst);
    case opPut: {
        View x = view(f, in.a);
        const int* into = f.a->indices + in.into;
        return each(t, in.count, f.n, [&](int i, int b) { dst[into[i] * f.n + b] = x.at(i, b); });
    }
    }
    View x = view(f, in.a), y = view(f, in.b), z = view(f, in.c);
    each(t, in.size, f.n, [&](int i, int b) { dst[i * f.n + b] = evaluate(in.op, x.at(i, b), y.at(i, b), z.at(i, b)); });
}

// execute runs a list, with barriers where its instructions say; one has to follow.
FUNCTION void execute(Team t, const Frame& f, const Instr* list, int count, double* memory) {
    for (int i = 0; i < count; i++) {
        if (list[i].waits) t.sync();
        if (int links = list[i].chain) {
            runChain(t, f, list + i, links, memory);
            i += links - 1;
        } else {
            run(t, f, list[i], memory + (i64)list[i].dst * f.n);
        }
    }
}
