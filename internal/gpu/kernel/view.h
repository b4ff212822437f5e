// Where the numbers of a chunk are.
#pragma once
#include "program.h"

// A Frame is a chunk of n records, or, with n = 1, the global stage: where each
// space is in memory, and which records.
struct Frame {
    const Arguments* a;
    double* lanes;    // element e of the chunk's record b is at e·n + b
    const u32* batch; // places of the records in the table; null: all
    i64 position;     // of the first record in the part
    i64 inBatch;      // of the first record in the whole batch
    int n;
    double clipNorm;
    int* notFinite; // set where a chain's checked results are not finite
};

// globalFrame is the global stage of a tape.
DEVICE Frame globalFrame(const Arguments& a, int* notFinite) { return Frame{&a, 0, 0, 0, 0, 1, 0, notFinite}; }

DEVICE u32 recordAt(const Frame& f, int b) {
    i64 place = f.position + b;
    return f.batch ? fromGlobal(f.batch + place) : (u32)place;
}

// fartherBy is x + count·stride, by one instruction.
template <class T> DEVICE const T* fartherBy(const T* x, u32 count, u32 stride) { return (const T*)((const u8*)x + (u64)count * (u32)(stride * sizeof(T))); }

// FloatTable, AlignedTable, DoubleTable and PackedTable are the table's records: at(i) is
// where record i begins, column(j) where its column j is, read what is there, value the
// number, and keptValue that number or 0 (kept). The reads need not wait for each other.
struct FloatTable {
    enum { abreast = 4 }; // records that a warp reads before it uses the first
    const float* values;
    u32 stride;
    DEVICE_MEMBER const float* at(u32 record) const { return fartherBy(values, record, stride); }
    DEVICE_MEMBER int column(int j) const { return j; }
    DEVICE_MEMBER float read(const float* at, int column) const { return fromGlobal(at + column); }
    DEVICE_MEMBER double value(float x, int) const { return x; }
    DEVICE_MEMBER double keptValue(float x, int, u32 keep) const { return kept(x, keep); }
};

// AlignedTable is one whose records begin at multiples of 16 bytes.
struct AlignedTable : FloatTable {
    enum { abreast = 8 };
};

struct DoubleTable {
    enum { abreast = 4 };
    const double* values;
    u32 stride;
    DEVICE_MEMBER const double* at(u32 record) const { return fartherBy(values, record, stride); }
    DEVICE_MEMBER int column(int j) const { return j; }
    DEVICE_MEMBER double read(const double* at, int column) const { return fromGlobal(at + column); }
    DEVICE_MEMBER double value(double x, int) const { return x; }
    DEVICE_MEMBER double keptValue(double x, int, u32 keep) const { return kept(x, keep); }
};

template <bool hasLists> struct PackedTable {
    enum { abreast = 4 };
    const u32* words;
    u32 stride; // words
    const Slot* slots;
    const float* lists;
    DEVICE_MEMBER const u32* at(u32 record) const { return fartherBy(words, record, stride); }
    DEVICE_MEMBER Slot column(int j) const { return Slot{fromGlobal(&slots[j].at), fromGlobal(&slots[j].size), fromGlobal(&slots[j].list)}; }
    DEVICE_MEMBER u32 read(const u32* at, const Slot& s) const { return fromGlobal(at + s.at / 4); }
    DEVICE_MEMBER float value(u32 word, const Slot& s) const {
        int whole = word >> s.at % 4 * 8 & (s.size == 2 ? 0xffff : 0xff);
        float x = s.size == 4 ? __builtin_bit_cast(float, word) : (float)whole;
        return hasLists && s.list >= 0 ? fromGlobal(lists + s.list + whole) : x;
    }
    DEVICE_MEMBER double keptValue(u32 word, const Slot& s, u32 keep) const { return kept(value(kept(word, keep), s), keep); }
};

// withTable calls f with the table.
template <class F> DEVICE void withTable(const Arguments& a, F f) {
    if (a.lists) return f(PackedTable<true>{(const u32*)a.table, (u32)a.stride, a.packed, a.lists});
    if (a.packed) return f(PackedTable<false>{(const u32*)a.table, (u32)a.stride, a.packed, 0});
    FloatTable floats = {(const float*)a.table, (u32)a.stride};
    if (a.single && a.stride % 4 == 0) return f(AlignedTable{floats});
    if (a.single) return f(floats);
    f(DoubleTable{(const double*)a.table, (u32)a.stride});
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

// spaceOf is where the numbers of a space are; of one that is in no memory, somewhere. Without
// branches, so that no read waits for another one.
DEVICE const double* spaceOf(const Frame& f, int space) {
    const double* base = ((const double* const*)f.a)[space < inLanes ? space : 0];
    return space == inLanes ? f.lanes : base;
}

DEVICE View view(const Frame& f, const Operand& o) {
    bool lanes = o.space == inLanes;
    return View{spaceOf(f, o.space) + (i64)o.at * (lanes ? f.n : 1), o.map < 0 ? 0 : f.a->indices + o.map, o.step, lanes ? f.n : 1, lanes};
}
