// Panels: parts of the two factors of a product, in shared memory, and how they get
// there.
#pragma once
#include "scratch.h"
#include "team.h"

// A Factor has element (i, k) at i·step + k·stepK.
struct Factor {
    const double* values;
    int step, stepK;
};

// 256 threads work on a tile of the result, 8 × 4 of each warp; R × R elements are
// one thread's.
enum { tileThreads = 256, tileWarps = tileThreads / warpSize, tileDown = 8, tileAcross = 4 };

// A Panel is `depth` k of both factors of a tile. Threads read 16 bytes at a time.
template <class Real, int R, int panelDepth> struct Panel {
    enum { depth = panelDepth, height = tileDown * R, width = tileAcross * R, several = 16 / sizeof(Real) };
    typedef Real Several __attribute__((vector_size(16), may_alias));
    Real left[depth][height + several], right[depth][width + several];
};

// A Fetch is how a thread moves `count` numbers of a factor, of `size` rows of a
// tile, to the next panel: number x has row i + x·di and k + x·dk. If neighbouring
// numbers in memory differ in k, a warp reads 4 runs of 8 of them, which fall on
// different banks of shared memory.
//
// The numbers are read while the panel before them is multiplied.
template <class Real, int size, int panelDepth> struct Fetch {
    enum { count = size * panelDepth / tileThreads, rowsApart = tileThreads / panelDepth, kApart = tileThreads / size };
    bool alongK;
    int i, k, di, dk;
    Real next[count];

    DEVICE_MEMBER void start(const Factor& of, int thread) {
        int warp = thread / warpSize;
        alongK = of.stepK == 1;
        i = alongK ? thread / 8 % 4 + warp / (panelDepth / 8) * 4 : thread % size;
        k = alongK ? thread % 8 + warp % (panelDepth / 8) * 8 : thread / size;
        di = alongK ? rowsApart : 0;
        dk = alongK ? 0 : kApart;
    }

    // read gets the thread's numbers of the panel that begins with k = `first`, of
    // the tile that begins with row `top`; 0 beyond the factor's end.
    DEVICE_MEMBER void read(const Factor& of, int top, int rows, int first, int depth) {
        int left = rows - top - i, leftK = depth - first - k; // elements from here to the end
        int inside = left <= 0 || leftK <= 0 ? 0 : alongK ? (left + rowsApart - 1) / rowsApart : (leftK + kApart - 1) / kApart;
        i64 step = di * of.step + dk * of.stepK;
        const double* at = of.values + (i64)(top + i) * of.step + (i64)(first + k) * of.stepK;
        UNROLL for (int x = 0; x < count; x++) {
            double v = *(x < inside ? at + x * step : of.values); // no branch
            next[x] = x < inside ? (Real)v : 0;
        }
    }

    // weigh multiplies by a weight, or with only0 by 0 if it is 0, finite or not:
    // if neighbouring numbers in memory differ in k, a thread's all have one k.
    DEVICE_MEMBER void weigh(double weight, bool only0) {
        UNROLL for (int x = 0; x < count; x++) next[x] = weight == 0 ? 0 : only0 ? next[x] : (Real)(weight * next[x]);
    }

    template <int pitch> DEVICE_MEMBER void write(Real (*to)[pitch]) const {
        UNROLL for (int x = 0; x < count; x++) to[k + x * dk][i + x * di] = next[x];
    }
};

// load reads R numbers.
template <int R, class Several, class Real> DEVICE void load(Real* to, const Real* from) {
    UNROLL for (int i = 0; i < R; i += (int)(sizeof(Several) / sizeof(Real))) *(Several*)(to + i) = *(const Several*)(from + i);
}
