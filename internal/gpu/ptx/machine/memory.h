// Memory in PTX's state spaces. An address in .shared, .const and .param is a place
// in the space, one in .local a place in the thread's stack, and all others are
// addresses of the host. Every access is checked: it must be aligned to its size and
// lie within its space, and one without a space must be to memory of the thread's
// own block, or of its own where that is .local.
#pragma once
#include "clock.h"

// A Thread is what a thread of a kernel knows of itself.
struct Thread {
    u32 tid, ctaid, nctaid;
    u8 *shared, *local;
    const u8* params;
    u32 paramBytes;
};

// The shared memory of the blocks that run at the same time. What a card has below
// firstShared is its own, so that 0 is no address.
enum : u64 { firstShared = 1024, mostShared = 256 << 10 };
alignas(1024) static u8 sharedOfBlocks[mostBlocks][mostShared];

inline void mustBe(bool aligned, bool inside, int line, const char* space) {
    if (__builtin_expect(!aligned, 0)) wrong(line, "an address is not aligned");
    if (__builtin_expect(!inside, 0)) wrong(line, space);
}

template <class T, int n> inline bool aligned(u64 a) { return a % (sizeof(T) * n) == 0; }
inline bool isIn(u64 a, u64 bytes, const void* from, u64 size) { return a - (u64)from <= size - bytes; }

template <class T, int n> inline T* inShared(const Thread& t, u64 a, HERE) {
    mustBe(aligned<T, n>(a), a >= firstShared && a <= firstShared + sharedBytes - sizeof(T) * n, line, "outside shared memory");
    accesses(ofShared);
    return (T*)(t.shared + a);
}

template <class T, int n> inline T* inLocal(const Thread& t, u64 a, HERE) {
    mustBe(aligned<T, n>(a), a <= stackBytes - sizeof(T) * n, line, "outside local memory");
    accesses(ofLocal);
    return (T*)(t.local + a);
}

template <class T, int n> inline const T* inConst(const Thread&, u64 a, HERE) {
    mustBe(aligned<T, n>(a), a + sizeof(T) * n <= sizeof constants, line, "outside constant memory");
    accesses(ofLocal);
    return (const T*)(constants + a);
}

template <class T, int n> inline const T* inParam(const Thread& t, u64 a, HERE) {
    mustBe(aligned<T, n>(a), a + sizeof(T) * n <= t.paramBytes, line, "outside the kernel's parameters");
    return (const T*)(t.params + a);
}

inline bool isShared(u64 a) { return isIn(a, 1, sharedOfBlocks, sizeof sharedOfBlocks); }
inline bool isLocal(u64 a) { return isIn(a, 1, stacks.of, sizeof stacks.of); }

template <class T, int n> inline T* inGlobal(const Thread&, u64 a, HERE) {
    mustBe(aligned<T, n>(a), a >= 1 << 16 && !isShared(a) && !isLocal(a), line, "outside global memory");
    accessesGlobal(a);
    return (T*)a;
}

template <class T, int n> inline T* anywhere(const Thread& t, u64 a, HERE) {
    const u64 bytes = sizeof(T) * n;
    bool own = isShared(a)  ? isIn(a, bytes, t.shared + firstShared, sharedBytes)
               : isLocal(a) ? isIn(a, bytes, t.local, stackBytes)
                            : a >= 1 << 16;
    mustBe(aligned<T, n>(a), own, line, "outside the memory that this thread may reach");
    if (isShared(a) || isLocal(a)) accesses(isShared(a) ? ofShared : ofLocal);
    else accessesGlobal(a);
    return (T*)a;
}

// cvta makes an address of a space one without, cvta_to the other way round.
inline u64 cvta_shared(const Thread& t, u64 a) { return (u64)t.shared + a; }
inline u64 cvta_local(const Thread& t, u64 a) { return (u64)t.local + a; }
inline u64 cvta_const(const Thread&, u64 a) { return (u64)constants + a; }
inline u64 cvta_global(const Thread&, u64 a) { return a; }
inline u64 cvta_to_shared(const Thread& t, u64 a) { return a - (u64)t.shared; }
inline u64 cvta_to_local(const Thread& t, u64 a) { return a - (u64)t.local; }
inline u64 cvta_to_const(const Thread&, u64 a) { return a - (u64)constants; }
inline u64 cvta_to_global(const Thread&, u64 a) { return a; }
