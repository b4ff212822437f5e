// Groups of blocks that wait for each other. All blocks of a group must be
// running: the host launches no more than fit on the device at once. On one
// thread a group is one block.
#pragma once
#include "device.h"

struct Group {
    u32* arrived; // blocks that came to any wait so far; 0 at the start
    u32 blocks, waits;

    DEVICE_MEMBER void wait() {
        waits++;
        barrier();
#ifdef __CUDA__
        if (blocks > 1) {
            if (threadOfBlock() == 0) {
                __nvvm_membar_gl(); // what the block wrote, before its arrival
                __nvvm_atom_add_gen_i((int*)arrived, 1);
                while (*(volatile u32*)arrived < waits * blocks) {
                }
                __nvvm_membar_gl(); // and what others wrote, after theirs
            }
            barrier();
        }
#endif
    }
};
