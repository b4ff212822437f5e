//go:build !nogpu && !cu && (amd64 || arm64)

package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// cuda is the driver's library, loaded when it is first asked for.
type cuda struct {
	at   [functions]uintptr
	args [11]uintptr // kept, so that calls do not allocate
}

// loadCUDA opens and initialises the driver. It fails without a driver, or without one
// that works.
func loadCUDA() (*cuda, error) {
	const file = "libcuda.so.1"
	library, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, errors.New("no NVIDIA driver (" + file + ") is installed")
	}
	c := new(cuda)
	for f, name := range functionNames {
		if c.at[f], err = purego.Dlsym(library, name); err != nil {
			return nil, fmt.Errorf("the NVIDIA driver is too old: it has no %s", name)
		}
	}
	if err := c.call(cuInit, 0); err != nil {
		return nil, err
	}
	return c, nil
}

// call calls a function of the driver. Go memory that an argument points at
// stays where it is during the call.
//
//go:uintptrescapes
func (c *cuda) call(f function, args ...uintptr) error {
	n := copy(c.args[:], args)
	word, _, _ := purego.SyscallN(c.at[f], c.args[:n]...)
	if result := int32(word); result != cudaSuccess { // a CUresult is an int: the upper half of the word is anything
		return c.failure(f, result)
	}
	return nil
}

// failure is the error for a CUresult.
func (c *cuda) failure(f function, result int32) error {
	switch result {
	case cudaErrorOutOfMemory:
		return errNoMemory
	case cudaErrorNoDevice:
		return errNoDevice
	case cudaErrorLaunchTimeout:
		return errTimeout
	}
	return fmt.Errorf("gpu: %s: %s (%s)", functionNames[f], c.text(cuGetErrorName, result), c.text(cuGetErrorString, result))
}

// text is the driver's text for a CUresult.
func (c *cuda) text(f function, result int32) string {
	var at unsafe.Pointer
	if r, _, _ := purego.SyscallN(c.at[f], uintptr(result), uintptr(unsafe.Pointer(&at))); int32(r) != cudaSuccess || at == nil {
		return fmt.Sprintf("error %d", result)
	}
	n := 0
	for *(*byte)(unsafe.Add(at, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// word is a call that returns one number through its first argument; at most
// four others follow.
//
//go:uintptrescapes
func (c *cuda) word(f function, args ...uintptr) (uintptr, error) {
	w := new(uintptr)
	var more [4]uintptr // unused ones are ignored
	copy(more[:], args)
	err := c.call(f, uintptr(unsafe.Pointer(w)), more[0], more[1], more[2], more[3])
	return *w, err
}

// devices lists the devices.
func (c *cuda) devices() ([]Device, error) {
	count, err := c.word(cuDeviceGetCount)
	if err != nil {
		return nil, err
	}
	list := make([]Device, int(int32(count)))
	for i := range list {
		if list[i], err = c.device(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (c *cuda) device(n int) (Device, error) {
	d := Device{Index: n}
	handle, err := c.word(cuDeviceGet, uintptr(n))
	if err != nil {
		return d, err
	}
	var name [256]byte
	if err := c.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), handle); err != nil {
		return d, err
	}
	text, _, _ := bytes.Cut(name[:], []byte{0})
	d.Name = string(text)
	memory, err := c.word(cuDeviceTotalMem_v2, handle)
	if err != nil {
		return d, err
	}
	d.Memory = int64(memory)
	var numbers [4]int
	for i, attribute := range []uintptr{attributeCapabilityMajor, attributeCapabilityMinor, attributeMemoryClock, attributeMemoryBits} {
		x, err := c.word(cuDeviceGetAttribute, attribute, handle)
		if err != nil {
			return d, err
		}
		numbers[i] = int(int32(x))
	}
	d.Capability = 10*numbers[0] + numbers[1]
	d.Bandwidth = 2 * 1e3 * float64(numbers[2]) * float64(numbers[3]) / 8
	return d, nil
}

// A function is one of the CUDA driver's, as cuda.h declares it. Arguments are
// passed as machine words, unchecked: this table is the place to compare with
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
