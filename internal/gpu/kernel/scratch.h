// Shared memory for whatever a block does at a time.
#pragma once
#include "device.h"

struct alignas(16) Scratch {
    u8 bytes[34 << 10];
};

DEVICE void* scratch() {
    SHARED(Scratch, memory);
    return &memory;
}
