// What PTX's arithmetic instructions compute, by the sections of the PTX ISA on
// integer, floating-point, comparison, logic and shift instructions. A template's
// argument is the instruction's type.
#pragma once
#include "types.h"

template <class T> struct Wide;
template <> struct Wide<u16> { typedef u32 Type; };
template <> struct Wide<s16> { typedef s32 Type; };
template <> struct Wide<u32> { typedef u64 Type; };
template <> struct Wide<s32> { typedef s64 Type; };
template <> struct Wide<u64> { typedef unsigned __int128 Type; };
template <> struct Wide<s64> { typedef __int128 Type; };
template <class T> using WideOf = typename Wide<T>::Type;

template <class T> inline int bitsOf() { return 8 * sizeof(T); }

// Integers wrap: arithmetic is that of 64 bits without sign.
template <class T> inline T add(T a, T b) { return (T)((u64)a + (u64)b); }
template <class T> inline T sub(T a, T b) { return (T)((u64)a - (u64)b); }
template <class T> inline T mul_lo(T a, T b) { return (T)((u64)a * (u64)b); }
template <class T> inline T mul_hi(T a, T b) { return (T)((WideOf<T>)a * (WideOf<T>)b >> bitsOf<T>()); }
template <class T> inline WideOf<T> mul_wide(T a, T b) { return (WideOf<T>)((u64)a * (u64)b); }
template <class T> inline T mad_lo(T a, T b, T c) { return add<T>(mul_lo<T>(a, b), c); }
template <class T> inline T mad_hi(T a, T b, T c) { return add<T>(mul_hi<T>(a, b), c); }
template <class T> inline WideOf<T> mad_wide(T a, T b, WideOf<T> c) { return add<WideOf<T>>(mul_wide<T>(a, b), c); }

// PTX specifies neither a quotient by zero nor that of the least number by -1.
template <class T> inline void mustDivide(T a, T b, int line) {
    if (b == 0) wrong(line, "a division by zero");
    if (isSigned<T> && b == (T)-1 && a == (T)((u64)1 << (bitsOf<T>() - 1))) wrong(line, "a quotient that is out of range");
}
template <class T> inline T div(T a, T b, HERE) { return mustDivide<T>(a, b, line), (T)(a / b); }
template <class T> inline T rem(T a, T b, HERE) { return mustDivide<T>(a, b, line), (T)(a % b); }

// Floats: contraction is off, so that each is rounded by itself.
template <class T> inline T add_rn(T a, T b) { return a + b; }
template <class T> inline T sub_rn(T a, T b) { return a - b; }
template <class T> inline T mul_rn(T a, T b) { return a * b; }
template <class T> inline T div_rn(T a, T b) { return a / b; }
template <class T> inline T rcp_rn(T a) { return 1 / a; }
template <class T> inline T fma_rn(T a, T b, T c) { return std::fma(a, b, c); }
template <class T> inline T sqrt_rn(T a) { return std::sqrt(a); }
template <class T> inline T copysign(T a, T b) { return std::copysign(b, a); } // the sign is a's

template <class T> inline T neg(T a) {
    if constexpr (isFloat<T>) return -a;
    else return (T)(0 - (u64)a);
}
template <class T> inline T abs(T a) {
    if constexpr (isFloat<T>) return std::fabs(a);
    else return a < 0 ? neg<T>(a) : a;
}

// With a number and a NaN, min and max are the number; -0 is less than 0.
template <class T> inline T min(T a, T b) {
    if constexpr (isFloat<T>) {
        if (a != a || b != b) return a != a ? b : a;
        if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
}
template <class T> inline T max(T a, T b) {
    if constexpr (isFloat<T>) {
        if (a != a || b != b) return a != a ? b : a;
        if (a == b) return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
}

template <class T> inline T and_(T a, T b) { return (T)(a & b); }
template <class T> inline T or_(T a, T b) { return (T)(a | b); }
template <class T> inline T xor_(T a, T b) { return (T)(a ^ b); }
template <class T> inline T not_(T a) {
    if constexpr (sizeof(T) == 1) return !a;
    else return (T)~a;
}
template <class T> inline T cnot(T a) { return a == 0; }

// Shifts by more than the width are by the width.
template <class T> inline T shl(T a, u32 n) { return n >= (u32)bitsOf<T>() ? (T)0 : (T)((u64)a << n); }
template <class T> inline T shr(T a, u32 n) {
    if (n >= (u32)bitsOf<T>()) return isSigned<T> && a < 0 ? (T)-1 : (T)0;
    return (T)(a >> n);
}
inline u64 pairOf(u32 a, u32 b) { return (u64)b << 32 | a; }
template <class T> inline T shf_l_wrap(T a, T b, u32 n) { return (T)(pairOf(a, b) << n % 32 >> 32); }
template <class T> inline T shf_r_wrap(T a, T b, u32 n) { return (T)(pairOf(a, b) >> n % 32); }
template <class T> inline T shf_l_clamp(T a, T b, u32 n) { return n >= 32 ? a : shf_l_wrap<T>(a, b, n); }
template <class T> inline T shf_r_clamp(T a, T b, u32 n) { return n >= 32 ? b : shf_r_wrap<T>(a, b, n); }

// prmt chooses four of the eight bytes of a and b, each by four bits of c; the highest of
// these bits asks for the byte's sign instead.
template <class T> inline T prmt(T a, T b, T c) {
    u32 d = 0;
    for (int i = 0; i < 4; i++) {
        u32 choice = c >> 4 * i, byte = (u32)(pairOf(a, b) >> 8 * (choice & 7)) & 255;
        d |= (choice & 8 ? (byte >> 7) * 255 : byte) << 8 * i;
    }
    return d;
}

// bfe takes `length` bits from place `at`, extended by zeros or by the last of them.
template <class T> inline T bfe(T a, u32 at, u32 length) {
    int width = bitsOf<T>(), from = at & 255, count = length & 255, last = from + count - 1 < width - 1 ? from + count - 1 : width - 1;
    u64 w = (u64)a, sign = isSigned<T> && count > 0 ? w >> last & 1 : 0, d = 0;
    for (int i = 0; i < width; i++) d |= (i < count && from + i < width ? w >> (from + i) & 1 : sign) << i;
    return (T)d;
}

// bfi is b with the lowest `length` bits of a at place `at`.
template <class T> inline T bfi(T a, T b, u32 at, u32 length) {
    int width = bitsOf<T>(), from = at & 255, count = length & 255;
    T d = b;
    for (int i = 0; i < count && from + i < width; i++) {
        T bit = (T)1 << (from + i);
        d = (T)((d & ~bit) | (a >> i & 1 ? bit : 0));
    }
    return d;
}

template <class T> inline T brev(T a) {
    T d = 0;
    for (int i = 0; i < bitsOf<T>(); i++) d = (T)(d << 1 | (a >> i & 1));
    return d;
}
template <class T> inline u32 popc(T a) { return __builtin_popcountll(a); }
template <class T> inline u32 clz(T a) { return a == 0 ? bitsOf<T>() : __builtin_clzll(a) - (64 - bitsOf<T>()); }

template <class T> inline T selp(T a, T b, bool p) { return p ? a : b; }

// Comparisons with a NaN are false, those that end with u true.
template <class T> inline bool setp_num(T a, T b) { return a == a && b == b; }
template <class T> inline bool setp_nan(T a, T b) { return !setp_num<T>(a, b); }
template <class T> inline bool setp_eq(T a, T b) { return a == b; }
template <class T> inline bool setp_ne(T a, T b) {
    if constexpr (isFloat<T>) return setp_num<T>(a, b) && a != b;
    else return a != b;
}
template <class T> inline bool setp_lt(T a, T b) { return a < b; }
template <class T> inline bool setp_le(T a, T b) { return a <= b; }
template <class T> inline bool setp_gt(T a, T b) { return a > b; }
template <class T> inline bool setp_ge(T a, T b) { return a >= b; }
template <class T> inline bool setp_lo(T a, T b) { return a < b; }
template <class T> inline bool setp_ls(T a, T b) { return a <= b; }
template <class T> inline bool setp_hi(T a, T b) { return a > b; }
template <class T> inline bool setp_hs(T a, T b) { return a >= b; }
template <class T> inline bool setp_equ(T a, T b) { return setp_nan<T>(a, b) || a == b; }
template <class T> inline bool setp_neu(T a, T b) { return a != b; }
template <class T> inline bool setp_ltu(T a, T b) { return !(a >= b); }
template <class T> inline bool setp_leu(T a, T b) { return !(a > b); }
template <class T> inline bool setp_gtu(T a, T b) { return !(a <= b); }
template <class T> inline bool setp_geu(T a, T b) { return !(a < b); }
