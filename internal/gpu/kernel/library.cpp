// The kernels as a library for the host: kernels.cu compiled as plain C++, or with
// -DKERNELS what else is to be compiled, memory for it, and how many blocks can wait
// for each other.
#ifndef KERNELS
#define KERNELS "kernels.cu"
#endif
#include KERNELS

#include <cstdlib>
#include <cstring>

extern "C" void* d3p_alloc(u64 bytes) { return std::malloc(bytes); }
extern "C" void d3p_free(void* p) { std::free(p); }
extern "C" void d3p_copy(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
extern "C" u64 d3p_together() { return mostBlocks; }
