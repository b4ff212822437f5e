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
    enum { pitchLeft = height + several, pitchRight = width + several };
    typedef Real Several __attribute__((vector_size(16), may_alias));
    Real left[depth][pitchLeft], right[depth][pitchRight];
};

// A Fetch is how a thread moves `count` numbers of a factor, of `size` rows of a
// tile, to the next panel: number x has row i and k + x·apart, or, where neighbouring
// numbers in memory differ in k (alongK), row i + x·apart and k; a warp then reads 4 runs
// of 8 of them, which fall on different banks of shared memory.
//
// The numbers are read while the panel before them is multiplied, all of them before the
// first is used.
template <class Real, int size, int panelDepth, bool alongK> struct Fetch {
    enum { count = size * panelDepth / tileThreads, apart = alongK ? tileThreads / panelDepth : tileThreads / size };
    int i, k, rowsLeft; // rowsLeft: from row i to the end of the factor
    const double* at;   // number 0 of the next panel
    i64 step, stepPanel;
    double next[count];

    DEVICE_MEMBER void start(int thread) {
        int warp = thread / warpSize;
        i = alongK ? thread / 8 % 4 + warp / (panelDepth / 8) * 4 : thread % size;
        k = alongK ? thread % 8 + warp % (panelDepth / 8) * 8 : thread / size;
    }

    // moveTo goes to the first panel of the tile that begins with row `top`.
    DEVICE_MEMBER void moveTo(const Factor& of, int top, int rows) {
        rowsLeft = rows - top - i;
        at = of.values + (i64)(top + i) * of.step + (i64)k * of.stepK;
        step = alongK ? (i64)apart * of.step : (i64)apart * of.stepK;
        stepPanel = (i64)panelDepth * of.stepK;
    }

    // read gets the thread's numbers of the next panel, which begins with k = `first`; 0
    // beyond the factor's end.
    DEVICE_MEMBER void read(const double* somewhere, int first, int depth) {
        int kLeft = depth - first - k;
        int inside = rowsLeft <= 0 || kLeft <= 0 ? 0 : ((alongK ? rowsLeft : kLeft) + apart - 1) / apart;
        const double* from = at;
        UNROLL for (int x = 0; x < count; x++) {
            next[x] = fromGlobal(x < inside ? from : somewhere); // no branch
            from += step;
        }
        at += stepPanel;
    }

    // keep sets the numbers beyond the factor's end to 0, of the panel that begins with k =
    // `first`. Nothing that waits for the reads can come before it.
    DEVICE_MEMBER void keep(int first, int depth) {
        int kLeft = depth - first - k;
        int inside = rowsLeft <= 0 || kLeft <= 0 ? 0 : ((alongK ? rowsLeft : kLeft) + apart - 1) / apart;
        inside += peek(&zero());
        UNROLL for (int x = 0; x < count; x++) next[x] = fromBits(bits(next[x]) & (x < inside ? ~0ull : 0ull));
    }

    // weigh multiplies by a weight, or with only0 by 0 if it is 0, finite or not: with
    // alongK a thread's numbers all have one k.
    DEVICE_MEMBER void weigh(double weight, bool only0) {
        UNROLL for (int x = 0; x < count; x++) next[x] = weight == 0 ? 0 : only0 ? next[x] : weight * next[x];
    }

    template <int pitch> DEVICE_MEMBER void write(Real (*to)[pitch]) const {
        Real* first = &to[0][0] + opaque(k * pitch + i);
        UNROLL for (int x = 0; x < count; x++) first[x * apart * (alongK ? 1 : pitch)] = (Real)next[x];
    }
};

// load reads R numbers.
template <int R, class Several, class Real> DEVICE void load(Real* to, const Real* from) {
    UNROLL for (int i = 0; i < R; i += (int)(sizeof(Several) / sizeof(Real))) *(Several*)(to + i) = *(const Several*)(from + i);
}
