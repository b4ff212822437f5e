// atom and red: read, compute and write at once, relaxed if the instruction does not
// say otherwise.
#pragma once
#include "order.h"

// atomic replaces the number at a place by f of it and returns what was there.
template <class T, class F> inline T atomic(T* at, F f) {
    isToWrite(at);
    T was = __atomic_load_n(at, __ATOMIC_RELAXED), next;
    do {
        next = f(was);
    } while (!__atomic_compare_exchange(at, &was, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    hasRead(at);
    if (next == was) mayHaveChanged(at, was);
    else forget();
    return was;
}

template <class T> inline T atom_add(T* at, T x) { return atomic(at, [=](T was) { if constexpr (isFloat<T>) return was + x; else return (T)((u64)was + (u64)x); }); }
template <class T> inline T atom_exch(T* at, T x) { return atomic(at, [=](T) { return x; }); }
template <class T> inline T atom_and(T* at, T x) { return atomic(at, [=](T was) { return was & x; }); }
template <class T> inline T atom_or(T* at, T x) { return atomic(at, [=](T was) { return was | x; }); }
template <class T> inline T atom_xor(T* at, T x) { return atomic(at, [=](T was) { return was ^ x; }); }
template <class T> inline T atom_min(T* at, T x) { return atomic(at, [=](T was) { return x < was ? x : was; }); }
template <class T> inline T atom_max(T* at, T x) { return atomic(at, [=](T was) { return x > was ? x : was; }); }
template <class T> inline T atom_inc(T* at, T x) { return atomic(at, [=](T was) { return was >= x ? 0 : was + 1; }); }
template <class T> inline T atom_dec(T* at, T x) { return atomic(at, [=](T was) { return was == 0 || was > x ? x : was - 1; }); }
template <class T> inline T atom_cas(T* at, T x, T y) { return atomic(at, [=](T was) { return was == x ? y : was; }); }
