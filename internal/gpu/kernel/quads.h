// Columns that are read from the table in place, four neighbouring ones by a thread: a row of
// whole floats is one read of a warp for every 128 of them.
#pragma once
#include "view.h"

enum { quadsOfWarp = 4 * warpSize };

// quadsBefore is how many columns the first four begin before column `first`: with a multiple
// of 16 bytes.
DEVICE int quadsBefore(int first) { return first % 4; }

// A Quad is four columns of a matrix whose columns in the table are `first` and those behind.
template <class Table> struct Quad {
    int at; // the first one of them
    decltype(Table().column(0)) columns[4];
    u32 inside[4]; // all bits, or, where it is no column of the matrix, none
};

// quadOf is the one at `place`, a multiple of 4 that counts from quadsBefore(first) columns
// before `first`. What is not inside is some other column of the record.
template <class Table> DEVICE Quad<Table> quadOf(const Table& table, int first, int cols, int place) {
    Quad<Table> q;
    int before = quadsBefore(first), c = place - before;
    q.at = first + (c < cols ? c : -before);
    UNROLL for (int j = 0; j < 4; j++) {
        bool inside = (u32)(c + j) < (u32)cols;
        q.columns[j] = table.column(first + (inside ? c + j : 0));
        q.inside[j] = inside ? ~0u : 0;
    }
    return q;
}

// readQuad reads the four numbers of a record.
template <class Table, class At> DEVICE auto readQuad(const Table& table, const At* at, const Quad<Table>& q) {
    Four<decltype(table.read(at, q.columns[0]))> four;
    UNROLL for (int j = 0; j < 4; j++) four.x[j] = table.read(at, q.columns[j]);
    return four;
}

DEVICE Four<float> readQuad(const AlignedTable&, const float* at, const Quad<AlignedTable>& q) { return fourFromGlobal(at + q.at); }

// rowsAt sets to[k] to where records first + k of a chunk begin; beyond the last one, that one.
template <int count, class Table, class At> DEVICE void rowsAt(const Frame& f, const Table& table, int first, At* to) {
    u32 place[count];
    UNROLL for (int k = 0; k < count; k++) place[k] = (u32)f.position + (first + k < f.n ? first + k : f.n - 1);
    if (const u32* batch = f.batch) {
        UNROLL for (int k = 0; k < count; k++) to[k] = table.at(fromGlobal(batch + place[k]));
    } else {
        UNROLL for (int k = 0; k < count; k++) to[k] = table.at(place[k]);
    }
}
