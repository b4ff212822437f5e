// Matrix products in tiles of the result, in double or single precision. A block
// takes a tile at a time. The factors go through shared memory in panels of k, of
// which warp w of 8 multiplies those with k mod 8 = w, R × R elements a thread; in
// the end the 8 partial sums of an element are added. The shape of that sum depends
// on k only: neither the size of the tiles nor how many rows and columns there are
// shows in the bits.
#pragma once
#include "panel.h"

// A Product is Σ_k left(i, k)·right(j, k), k < depth, for all i < rows and j < cols:
// put at, or added to, place i·rowStep + j·colStep of `to`. If there are weights
// the right factor is multiplied by number k mod `records` of them; where that is
// 0 neither factor counts, finite or not. Both factors then have stepK = 1.
struct Product {
    Factor left, right;
    int rows, cols, depth;
    const double* weights;
    int records;
    double* to;
    int rowStep, colStep;
    bool adds;
};

// Tiles are what the result is cut into: tile k, of block k mod the number of blocks,
// is tile k mod `across` of a row of tiles.
struct Tiles {
    int height, width, across, count;
};

template <int R> DEVICE Tiles cut(int rows, int cols) {
    enum { height = tileDown * R, width = tileAcross * R };
    int across = (cols + width - 1) / width;
    return Tiles{height, width, across, (rows + height - 1) / height * across};
}

// slice is how many elements of each thread are added up at a time.
enum { slice = 16 };

// Partial sums of a slice: element e of thread l is at l·(slice+1) + e.
template <class Real> struct PartialSums {
    Real of[tileWarps][warpSize * (slice + 1)];
};

// multiplyTiles computes a product in tiles of 8R × 4R elements. leftAlongK and rightAlongK
// say that a factor's stepK is 1.
template <class Real, int R, int panelDepth, bool leftAlongK, bool rightAlongK, bool weighted> FUNCTION void multiplyTiles(Team t, const Product& of) {
    typedef Panel<Real, R, panelDepth> Panel;
    static_assert(sizeof(Panel) <= sizeof(Scratch) && sizeof(PartialSums<Real>) <= sizeof(Scratch) && slice % R == 0 && R * R % slice == 0, "sizes fit");
    enum { own = tileThreads / blockThreads, sliceRows = slice / R }; // own: of the 256 threads each one stands for
    const Product p = of;
    Panel& panel = *(Panel*)scratch();
    PartialSums<Real>& partial = *(PartialSums<Real>*)scratch();
    Fetch<Real, Panel::height, panelDepth, leftAlongK> left[own];
    Fetch<Real, Panel::width, panelDepth, rightAlongK> right[own];
    UNROLL for (int o = 0; o < own; o++) {
        left[o].start(t.rank % blockThreads + o * blockThreads);
        right[o].start(t.rank % blockThreads + o * blockThreads);
    }
    const Tiles tiles = cut<R>(p.rows, p.cols);
    barrier(); // nobody needs what was in shared memory
    for (int at = t.rank / blockThreads; at < tiles.count; at += t.size / blockThreads) {
        int top = at / tiles.across * Panel::height, side = at % tiles.across * Panel::width;
        Real sum[own][R][R] = {};
        UNROLL for (int o = 0; o < own; o++) {
            left[o].moveTo(p.left, top, p.rows);
            right[o].moveTo(p.right, side, p.cols);
        }
        int ahead = 0; // k with which the panel begins that is read next
        auto readPanel = [&]() {
            UNROLL for (int o = 0; o < own; o++) {
                left[o].read(p.left.values, ahead, p.depth);
                right[o].read(p.right.values, ahead, p.depth);
            }
        };
        auto writePanel = [&]() {
            UNROLL for (int o = 0; o < own; o++) {
                left[o].keep(ahead, p.depth);
                right[o].keep(ahead, p.depth);
                if (weighted) {
                    int k = ahead + left[o].k;
                    double weight = k < p.depth ? p.weights[k % p.records] : 0;
                    left[o].weigh(weight, true);
                    right[o].weigh(weight, false);
                }
                left[o].write(panel.left);
                right[o].write(panel.right);
            }
            ahead += panelDepth;
        };
        readPanel();
        writePanel();
        barrier();
        while (ahead - panelDepth < p.depth) {
            readPanel(); // arrives while the panel before it is multiplied
            UNROLL for (int o = 0; o < own; o++) {
                int thread = t.rank % blockThreads + o * blockThreads, warp = thread / warpSize, lane = thread % warpSize;
                const Real* ofLeft = &panel.left[0][0] + opaque(warp * Panel::pitchLeft + lane / tileAcross * R);
                const Real* ofRight = &panel.right[0][0] + opaque(warp * Panel::pitchRight + lane % tileAcross * R);
                UNROLL for (int k = 0; k < panelDepth; k += tileWarps) {
                    Real x[R], y[R];
                    load<R, typename Panel::Several>(x, ofLeft + k * Panel::pitchLeft);
                    load<R, typename Panel::Several>(y, ofRight + k * Panel::pitchRight);
                    UNROLL for (int i = 0; i < R; i++)
                        UNROLL for (int j = 0; j < R; j++) sum[o][i][j] = fma(x[i], y[j], sum[o][i][j]);
                }
            }
            barrier();
            writePanel();
            barrier();
        }
        UNROLL for (int from = 0; from < R; from += sliceRows) {
            UNROLL for (int o = 0; o < own; o++) {
                int thread = t.rank % blockThreads + o * blockThreads;
                Real* mine = partial.of[thread / warpSize] + thread % warpSize * (slice + 1);
                UNROLL for (int e = 0; e < slice; e++) mine[e] = sum[o][from + e / R][e % R];
            }
            barrier();
            for (int e = t.rank % blockThreads; e < warpSize * slice; e += blockThreads) {
                int j = e % Panel::width, r = e / Panel::width, down = r / sliceRows, i = r % sliceRows;
                int place = (down * tileAcross + j / R) * (slice + 1) + i * R + j % R;
                Real s[tileWarps];
                UNROLL for (int w = 0; w < tileWarps; w++) s[w] = partial.of[w][place];
                UNROLL for (int half = 1; half < tileWarps; half *= 2)
                    UNROLL for (int w = 0; w < tileWarps; w += 2 * half) s[w] += s[w + half];
                i += top + down * R + from;
                j += side;
                if (i < p.rows && j < p.cols) {
                    double* to = p.to + (i64)i * p.rowStep + (i64)j * p.colStep;
                    *to = p.adds ? *to + s[0] : s[0];
                }
            }
            barrier();
        }
    }
}

// tiled reports whether a product is taken in tiles.
DEVICE bool tiled(int rows, int cols) { return rows >= 16 && cols >= 16; }

// multiply multiplies in double precision. A product without weights has a right factor
// with step 1, one with weights has factors with stepK 1.
DEVICE void multiply(Team t, const Product& p) {
    if (p.weights) multiplyTiles<double, 4, 64, true, true, true>(t, p);
    else if (p.left.stepK == 1) multiplyTiles<double, 4, 64, true, false, false>(t, p);
    else multiplyTiles<double, 4, 64, false, false, false>(t, p);
}

// tilesOf are the tiles of a product.
DEVICE Tiles tilesOf(int rows, int cols) { return cut<4>(rows, cols); }

// multiplySingle multiplies in single precision, without weights.
DEVICE void multiplySingle(Team t, const Product& p) {
    if (p.left.stepK == 1) multiplyTiles<float, 4, 64, true, false, false>(t, p);
    else multiplyTiles<float, 4, 64, false, false, false>(t, p);
}
