// cvt: between PTX's types, D of A. The roundings are those of the ISA: rn, rz, rm
// and rp, with i to a whole number.
#pragma once
#include "types.h"

template <class D, class A> inline D cvt(A a) { return (D)a; }    // whole numbers, or to a wider float
template <class D, class A> inline D cvt_rn(A a) { return (D)a; } // to a float

// whole is the rounded number as a D: of whole numbers the nearest that a D can
// be, of a NaN 0, or the highest bit alone for f64 and 64 bits.
template <class D, class A> inline D whole(A a) {
    if constexpr (isFloat<D>) return (D)a;
    else {
        const D highest = (D)((u64)1 << (8 * sizeof(D) - 1)), most = isSigned<D> ? (D)((u64)highest - 1) : (D)-1, least = isSigned<D> ? highest : 0;
        if (a != a) return sizeof(D) == 8 || sizeof(A) == 8 ? highest : 0;
        if (a >= (A)2 * (A)(u64)((u64)1 << (8 * sizeof(D) - (isSigned<D> ? 2 : 1)))) return most;
        if (a < (A)least) return least;
        return (D)a;
    }
}
template <class D, class A> inline D cvt_rni(A a) { return whole<D>(std::nearbyint(a)); }
template <class D, class A> inline D cvt_rzi(A a) { return whole<D>(std::trunc(a)); }
template <class D, class A> inline D cvt_rmi(A a) { return whole<D>(std::floor(a)); }
template <class D, class A> inline D cvt_rpi(A a) { return whole<D>(std::ceil(a)); }
