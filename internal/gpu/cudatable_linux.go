//go:build !nogpu && (amd64 || arm64)

package gpu

// A function is one of the CUDA driver's, as cuda.h declares it. Arguments are
// passed as machine words, unchecked: this file is the place to compare with
// cuda.h. Names with _v2 are what cuda.h's macros make of those without.
type function int

const (
	cuInit                                      function = iota // (unsigned int flags)
	cuGetErrorName                                              // (CUresult error, const char **text)
	cuGetErrorString                                            // (CUresult error, const char **text)
	cuDeviceGetCount                                            // (int *count)
	cuDeviceGet                                                 // (CUdevice *device, int ordinal)
	cuDeviceGetName                                             // (char *name, int length, CUdevice device)
	cuDeviceTotalMem_v2                                         // (size_t *bytes, CUdevice device)
	cuDeviceGetAttribute                                        // (int *value, CUdevice_attribute attribute, CUdevice device)
	cuDevicePrimaryCtxRetain                                    // (CUcontext *context, CUdevice device)
	cuDevicePrimaryCtxRelease_v2                                // (CUdevice device)
	cuCtxSetCurrent                                             // (CUcontext context)
	cuMemGetInfo_v2                                             // (size_t *free, size_t *total)
	cuMemAlloc_v2                                               // (CUdeviceptr *at, size_t bytes)
	cuMemFree_v2                                                // (CUdeviceptr at)
	cuMemHostAlloc                                              // (void **at, size_t bytes, unsigned int flags)
	cuMemFreeHost                                               // (void *at)
	cuMemcpyHtoDAsync_v2                                        // (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
	cuMemcpyDtoHAsync_v2                                        // (void *to, CUdeviceptr from, size_t bytes, CUstream stream)
	cuStreamCreate                                              // (CUstream *stream, unsigned int flags)
	cuStreamSynchronize                                         // (CUstream stream)
	cuStreamDestroy_v2                                          // (CUstream stream)
	cuModuleLoadDataEx                                          // (CUmodule *module, const void *image, unsigned int options, CUjit_option *option, void **value)
	cuModuleUnload                                              // (CUmodule module)
	cuModuleGetFunction                                         // (CUfunction *function, CUmodule module, const char *name)
	cuLaunchKernel                                              // (CUfunction f, unsigned int gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, CUstream stream, void **arguments, void **extra)
	cuLaunchCooperativeKernel                                   // as cuLaunchKernel, without extra
	cuOccupancyMaxActiveBlocksPerMultiprocessor                 // (int *blocks, CUfunction f, int blockThreads, size_t sharedBytes)
	functions
)

// All return a CUresult.
var functionNames = [functions]string{
	"cuInit", "cuGetErrorName", "cuGetErrorString",
	"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent",
	"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc", "cuMemFreeHost",
	"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
	"cuStreamCreate", "cuStreamSynchronize", "cuStreamDestroy_v2",
	"cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction", "cuLaunchKernel",
	"cuLaunchCooperativeKernel", "cuOccupancyMaxActiveBlocksPerMultiprocessor",
}

// Values of cuda.h: CUresult, CUdevice_attribute, CUjit_option and flags.
const (
	cudaSuccess            = 0
	cudaErrorOutOfMemory   = 2
	cudaErrorNoDevice      = 100
	cudaErrorLaunchTimeout = 702

	attributeMultiprocessors = 16
	attributeMemoryClock     = 36 // kHz; two transfers a cycle
	attributeMemoryBits      = 37 // of the bus
	attributeCapabilityMajor = 75
	attributeCapabilityMinor = 76
	attributeCooperative     = 95

	jitErrorLog      = 5
	jitErrorLogBytes = 6

	streamNonBlocking = 1
)
