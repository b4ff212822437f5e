// The kernels as a library for one thread of the host: kernels.cu compiled as
// plain C++, and memory for it.
#include "kernels.cu"

#include <cstdlib>
#include <cstring>

extern "C" void* d3p_alloc(u64 bytes) { return std::malloc(bytes); }
extern "C" void d3p_free(void* p) { std::free(p); }
extern "C" void d3p_copy(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
