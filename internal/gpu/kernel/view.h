// Where the numbers of a chunk are.
#pragma once
#include "program.h"

// A Frame is a chunk of n records, or, with n = 1, the global stage: where each
// space is in memory, and which records.
struct Frame {
    const Arguments* a;
    double* lanes;    // element e of the chunk's record b is at e·n + b
    const u32* batch; // places of the records in the table; null: all
    i64 position;     // of the first record in the part, and in `drawn`
    int n;
    double clipNorm;
    const double* drawn; // noise of the records, from the first one on
    int* notFinite;      // set where a chain's checked results are not finite
};

// globalFrame is the global stage of a tape.
DEVICE Frame globalFrame(const Arguments& a, int* notFinite) { return Frame{&a, 0, 0, 0, 1, 0, 0, notFinite}; }

DEVICE u32 recordAt(const Frame& f, int b) {
    i64 place = f.position + b;
    return f.batch ? f.batch[place] : (u32)place;
}

DEVICE double tableAt(const Arguments& a, u32 record, int column) {
    if (a.packed) {
        const Slot& s = a.packed[column];
        const u8* at = (const u8*)a.table + (i64)record * a.stride * 4 + s.at;
        if (s.size == 4) return *(const float*)at;
        int whole = s.size == 2 ? *(const u16*)at : *at;
        return s.list < 0 ? whole : a.lists[s.list + whole];
    }
    i64 at = (i64)record * a.stride + column;
    return a.single ? (double)((const float*)a.table)[at] : ((const double*)a.table)[at];
}

// isSingle reports whether products of a matrix are taken in float32: where the table
// is, those of largeProduct numbers or more. See internal/cpu/single.go, and claim 2
// of docs/privacy.md.
enum { largeProduct = 4096 };
DEVICE bool isSingle(const Frame& f, int rows, int cols) { return f.a->single && rows * cols >= largeProduct; }

// A View is an operand in memory: element e of record b at e·element + b·record.
struct View {
    const double* values;
    const int* map;
    int step, element, record;

    DEVICE_MEMBER double at(int i, int b) const {
        int e = map ? map[i] : i * step;
        return values[e * element + b * record];
    }
};

DEVICE View view(const Frame& f, const Operand& o) {
    const Arguments& a = *f.a;
    View v = {0, o.map < 0 ? 0 : a.indices + o.map, o.step, 1, 0};
    switch (o.space) {
    case inConstants: v.values = a.constants + o.at; break;
    case inParameters: v.values = a.parameters + o.at; break;
    case inAux: v.values = a.aux + o.at; break;
    case inGlobals: v.values = a.globals + o.at; break;
    case inLanes:
        v.values = f.lanes + (i64)o.at * f.n;
        v.element = f.n;
        v.record = 1;
    }
    return v;
}
