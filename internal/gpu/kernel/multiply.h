// Matrix products in tiles: a block takes a tile of the result at a time, 256
// threads 2 × 2 elements each, and the factors go through shared memory. Every
// element is summed in order of k, so tiles do not show in the bits.
#pragma once
#include "team.h"

enum { tile = 32, tileDepth = 16, tileThreads = 256 };

typedef double TileFactor[tileDepth][tile + 1];

// tiled says whether a product is large enough for tiles.
DEVICE bool tiled(int rows, int cols) { return rows >= 16 && cols >= 16; }

// multiply calls store(i, j, Σ_k left(i, k)·right(k, j)), k < depth, for all
// i < rows and j < cols. alongK says of a factor that neighbouring numbers in
// memory differ in k.
template <class Left, class Right, class Store>
DEVICE void multiply(Team t, int rows, int cols, int depth, Left left, bool leftAlongK, Right right, bool rightAlongK, Store store) {
    SHARED(TileFactor, a);
    SHARED(TileFactor, b);
    enum { own = tileThreads / blockThreads }; // a thread may stand for several of the 256
    int across = (cols + tile - 1) / tile, tiles = (rows + tile - 1) / tile * across;
    for (int at = t.rank / blockThreads; at < tiles; at += t.size / blockThreads) {
        int top = at / across * tile, side = at % across * tile;
        double sum[own][4] = {};
        for (int first = 0; first < depth; first += tileDepth) {
            for (int e = t.rank % blockThreads; e < tile * tileDepth; e += blockThreads) {
                int k = leftAlongK ? e % tileDepth : e / tile, i = leftAlongK ? e / tileDepth : e % tile;
                a[k][i] = top + i < rows && first + k < depth ? left(top + i, first + k) : 0;
                k = rightAlongK ? e % tileDepth : e / tile;
                i = rightAlongK ? e / tileDepth : e % tile;
                b[k][i] = side + i < cols && first + k < depth ? right(first + k, side + i) : 0;
            }
            barrier();
            for (int o = 0; o < own; o++) {
                int thread = t.rank % blockThreads + o * blockThreads, i = thread / 16 * 2, j = thread % 16 * 2;
                for (int k = 0; k < tileDepth && first + k < depth; k++) {
                    double a0 = a[k][i], a1 = a[k][i + 1], b0 = b[k][j], b1 = b[k][j + 1];
                    sum[o][0] = fma(a0, b0, sum[o][0]);
                    sum[o][1] = fma(a0, b1, sum[o][1]);
                    sum[o][2] = fma(a1, b0, sum[o][2]);
                    sum[o][3] = fma(a1, b1, sum[o][3]);
                }
            }
            barrier();
        }
        for (int o = 0; o < own; o++) {
            int thread = t.rank % blockThreads + o * blockThreads, i = top + thread / 16 * 2, j = side + thread % 16 * 2;
            for (int e = 0; e < 4; e++)
                if (i + e / 2 < rows && j + e % 2 < cols) store(i + e / 2, j + e % 2, sum[o][e]);
        }
    }
}
