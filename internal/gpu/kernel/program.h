// A tape as the kernels read it. The Go side (program.go, arguments.go) has the
// same structures, all of 4-byte numbers but for addresses, 8-byte counts and
// doubles, which come first.
#pragma once
#include "operations.h"
#include "team.h"

// Where an operand's values live.
enum Space { inConstants, inParameters, inAux, inGlobals, inLanes, inRows, inSlots, inNeutral };

// An Operand is element i of a buffer: place `at` + (map[i] or i·step) of its
// space; map < 0 means no map, else it starts there in the list of indices.
struct Operand {
    int space, at, step, map;
};

// An Instr computes the buffer at place `dst`, of `size` scalars; see
// graph.Instr. `into` is where its list of targets starts in the list of indices.
// For sums and maxima that list is one of sources instead, by target: first
// size+1 offsets, then the sources. Of a chain's instructions `rows` is how many
// operands they have, `width` how many elements are taken at a time, and `count` how
// they are executed (kernel/chain.h); their dst may be ~slot, or nowhere. The
// first one's `cols` is 0, or the number of columns of the matrix whose products'
// tiles the chain follows, and its `rowStep` the number of the chain's strands, if any;
// link k has the first link of strand k as `into` and its length as `colStep`.
struct Instr {
    int op, dst, size, count;
    Operand a, b, c;
    int into, rows, cols, width, rowStep, colStep; // A of a product: element (r, c) is at r·rowStep + c·colStep
    int waits; // every thread has to be done with what came before: see internal/gpu/barriers.go
    int chain; // length of the chain that begins here; 0: none does
};

// A Column is a block of the table's columns that is copied to lanes, or of the noise of a
// record, which is drawn there.
struct Column {
    int offset, size, at, drawn;
};

// A Dot is a piece of a norm, for each record. As `dotProduct` it is the inner
// product of `count` elements of the lane buffers at p and q, and as `dotLong` that of
// enough of them to be shared out over 8 threads. Where a record
// uses parameters at several places it is a part of the inner product of terms p
// and q: as `dotGram` that of place `count` of p with all places of q, as
// `dotElements` that of row `count` of the gradients, written out. `dotSize` bounds
// (Σ_w |X_w||Delta_w|)² of term p, by its width times Σ_w |X_w|²|Delta_w|².
enum DotKind { dotProduct, dotGram, dotElements, dotSize, dotLong };

struct Dot {
    int p, q, count, kind;
};

enum TermKind { dense, outer, scatter };

// A Term is a part of every record's gradient: see graph.Term. If width is 1,
// its factors' squares are the sums of dots [delta2, delta2End) and [x2, x2End),
// unless xNorm2 >= 0 says where |X|² is; else the first are its whole square, but
// for the last, which is its size.
struct Term {
    int kind, parameter, rows, cols, rowStride, colStride;
    int delta;  // lanes
    int x;      // lanes, or the first column if xInRows
    int xInRows;
    int index;  // lanes
    int xNorm2; // lanes
    int delta2, delta2End, x2, x2End, width;
};

// A Pair are two terms that share parameters, with the dots of their factors,
// or, if `whole`, of the whole inner product.
struct Pair {
    int i, j, delta, deltaEnd, x, xEnd, whole, unused;
};

enum ClipKind { flat, automatic, unclipped };

// A Slot is where a column of a packed record is: `size` bytes from byte `at` on. 4 are a
// float; fewer are a whole number, or its place in the list of numbers from `list` on.
struct Slot {
    int at, size, list; // list < 0: the whole number itself
};

// Arguments are one call's: a part of a batch on one table.
struct Arguments {
    // where numbers of the first spaces are, in their order
    const double *constants, *parameters, *aux;
    double* globals;
    // the tape
    const int* indices;
    const Instr *global, *record;
    const Column* columns;
    const Dot* dots;
    const Term* terms;
    const Pair* pairs;
    // the table
    const void* table; // float or double
    const u8* valid;   // by record of the table
    i64 stride;        // numbers from one record to the next
    const Slot* packed; // of the columns; null: the table has column j at number j
    const float* lists;
    // this part of the batch: `size` records, from position `first` on
    const u32* batch;    // their places in the table; null: the table's first ones
    u32* noiseKeys;      // round keys of the records' noise; null: none
    u64 step;            // of that noise
    i64 first, size;
    // memory to work in
    double *lanes, *partial, *counts; // lanes: slot after slot; partial: [slots × parameters]
    double *sum, *count; // the result
    u32* waiting;          // of the group of blocks: see Group
    double clipNorm, clipGamma;
    double slack; // of a squared norm, in units of the parts' size
    int globalCount, recordCount, columnCount, dotCount, termCount, pairCount;
    int parameterCount, noiseCount, lanesPerRecord, chunk, slots, clipKind;
    int single; // the table is of floats
    int fresh;  // the slots start from zero
    // lanes of a chunk besides those of the tape
    int dotLanes, factorLanes;
    int wide; // > 0: all blocks work on one chunk of this many records
    int longest; // the most records of a chunk
    int partition; // each parameter is in one term
    int longDots;  // of the dots
    int indexCount, unused; // indexCount: even
};

static_assert(sizeof(Instr) == 96 && sizeof(Term) == 64 && sizeof(Pair) == 32 && sizeof(Slot) == 12 && sizeof(Arguments) == 328, "as on the Go side");
