// PTX's types, and how registers hold them.
#pragma once
#include "device.h" // the threads of kernel/fibers.h

#include <cmath>
#include <cstring>

typedef u8 b8;
typedef u16 b16;
typedef u32 b32;
typedef u64 b64;
typedef bool pred;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef i64 s64;
typedef float f32;
typedef double f64;

template <class T> constexpr bool isFloat = false;
template <> constexpr bool isFloat<f32> = true;
template <> constexpr bool isFloat<f64> = true;
template <class T> constexpr bool isSigned = (T)-1 < (T)1;

// wrong ends the program: the PTX does at `line` what is not defined.
[[noreturn]] UNSEEN void wrong(int line, const char* what) {
    std::fprintf(stderr, "kernels.ptx:%d: block %d, thread %d: %s\n", line, grid.firstBlock + blockNow(), threadOfBlock(), what);
    std::abort();
}

// HERE is the line that a call is on, as the argument that a caller leaves out.
#define HERE int line = __builtin_LINE()

// as is x with the same bits as a T.
template <class T, class F> inline T as(F x) {
    static_assert(sizeof(T) == sizeof(F), "registers and instruction differ in size");
    return __builtin_bit_cast(T, x);
}

// low is the low bits of a register, which may be wider than a T.
template <class T, class F> inline T low(F x) {
    if constexpr (sizeof(T) == sizeof(F)) return as<T>(x);
    else {
        static_assert(sizeof(F) > sizeof(T) && !isFloat<T> && !isFloat<F>, "a register is too small");
        return (T)x;
    }
}

// set sets a register to a result of its size; extend to a smaller one, extended by
// its sign.
template <class D, class T> inline void set(D& d, T x) { d = as<D>(x); }
template <class D, class T> inline void extend(D& d, T x) {
    if constexpr (sizeof(D) == sizeof(T)) d = as<D>(x);
    else {
        static_assert(sizeof(D) > sizeof(T) && !isFloat<T> && !isFloat<D>, "a register is too small");
        d = (D)x;
    }
}
