// Which elements a thread takes through a chain: in turn with all others, or, where
// the chain follows a product, those of its block's tiles, so that nobody waits for
// other blocks in between.
#pragma once
#include "multiply.h"
#include "view.h"

// InTurn are the elements i < size of records b < n that `each` gives a thread.
struct InTurn {
    int size, n, i, b, steps, rest;

    // next sets i and b to the next element and reports whether there is one.
    DEVICE_MEMBER bool next(int* nextI, int* nextB) {
        if (i >= size) return false;
        *nextI = i;
        *nextB = b;
        i += steps;
        b += rest;
        if (b >= n) {
            b -= n;
            i++;
        }
        return true;
    }
};

DEVICE InTurn inTurn(Team t, int size, int n) { return InTurn{size, n, t.rank / n, t.rank % n, t.size / n, t.size % n}; }

// OfTiles are a thread's elements of the tiles of its block: place + k·blockThreads of
// each, row by row.
struct OfTiles {
    int size, n;
    Tiles tiles;
    int tile, apart, place;

    DEVICE_MEMBER bool next(int* nextI, int* nextB) {
        for (; tile < tiles.count; tile += apart) {
            while (place < tiles.height * tiles.width) {
                int i = tile / tiles.across * tiles.height + place / tiles.width, b = tile % tiles.across * tiles.width + place % tiles.width;
                place += blockThreads;
                *nextI = i;
                *nextB = b;
                if (i < size && b < n) return true;
            }
            place = threadOfBlock();
        }
        return false;
    }
};

// ofTiles are the tiles of a product of a matrix of rows × cols.
DEVICE OfTiles ofTiles(Team t, const Frame& f, int rows) {
    return OfTiles{rows, f.n, tilesOf(rows, f.n), t.rank / blockThreads, t.size / blockThreads, threadOfBlock()};
}
