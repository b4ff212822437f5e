// Doubles as bits, and the operations that are one instruction.
#pragma once
#include "device.h"

DEVICE u64 bits(double x) { return __builtin_bit_cast(u64, x); }
DEVICE double fromBits(u64 w) { return __builtin_bit_cast(double, w); }
DEVICE double infinity() { return fromBits(0x7ff0000000000000); }
DEVICE double nan() { return fromBits(0x7ff8000000000001); }
DEVICE bool isNaN(double x) { return x != x; }
DEVICE bool isFinite(double x) { return x - x == 0; }
DEVICE double absolute(double x) { return fromBits(bits(x) & ~(1ull << 63)); }
DEVICE double withSign(double x, double sign) { return fromBits((bits(x) & ~(1ull << 63)) | (bits(sign) & (1ull << 63))); }
DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double squareRoot(double x) { return __builtin_sqrt(x); }
DEVICE double floorOf(double x) { return __builtin_floor(x); }

// larger and smaller are NaN when an argument is, as Go's math.Max and math.Min.
DEVICE double larger(double x, double y) {
    if (isNaN(x) || isNaN(y)) return nan();
    if (x == 0 && y == 0) return bits(x) >> 63 ? y : x;
    return x > y ? x : y;
}

DEVICE double smaller(double x, double y) {
    if (isNaN(x) || isNaN(y)) return nan();
    if (x == 0 && y == 0) return bits(x) >> 63 ? x : y;
    return x < y ? x : y;
}

// scaled is x·2^k, rounded once, for a normal x of size about 1.
DEVICE double scaled(double x, int k) {
    if (k > 1023) {
        x *= 0x1p1000;
        k = k > 2023 ? 1023 : k - 1000;
    } else if (k < -1022) {
        if (k < -2022) return x * 0.0;
        x *= 0x1p-1000;
        k += 1000;
    }
    return x * fromBits((u64)(1023 + k) << 52);
}
