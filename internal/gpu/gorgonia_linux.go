//go:build cu && !nogpu && (amd64 || arm64)

package gpu

/*
#cgo CFLAGS: -I/usr/local/cuda/include -I/opt/cuda/include
#include <cuda.h>

// Pointers to pointers are made here, since Go may not pass them.
static CUresult load(CUmodule *module, const void *image, char *messages, size_t bytes) {
	CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[2] = {messages, (void *)bytes};
	return cuModuleLoadDataEx(module, image, 2, options, values);
}

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, CUstream stream, void *argument, int together) {
	void *arguments[1] = {argument};
	return together ? cuLaunchCooperativeKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, arguments)
	                : cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, 0);
}
*/
import "C"

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"
)

// Devices lists the CUDA devices of this machine; the error is the reason why there are
// none. Without a driver that works the program has ended before, in the init of cu.
func Devices() ([]Device, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, failure("cuDeviceGetCount", err)
	}
	list := make([]Device, count)
	for i := range list {
		if list[i], err = describe(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func describe(n int) (d Device, err error) {
	d.Index = n
	handle, err := cu.GetDevice(n)
	if err != nil {
		return d, failure("cuDeviceGet", err)
	}
	if d.Name, err = handle.Name(); err != nil {
		return d, failure("cuDeviceGetName", err)
	}
	if d.Memory, err = handle.TotalMem(); err != nil {
		return d, failure("cuDeviceTotalMem", err)
	}
	var numbers [4]int
	for i, a := range []cu.DeviceAttribute{cu.ComputeCapabilityMajor, cu.ComputeCapabilityMinor, cu.MemoryClockRate, cu.GlobalMemoryBusWidth} {
		if numbers[i], err = handle.Attribute(a); err != nil {
			return d, failure("cuDeviceGetAttribute", err)
		}
	}
	d.Capability = 10*numbers[0] + numbers[1]
	d.Bandwidth = 2 * 1e3 * float64(numbers[2]) * float64(numbers[3]) / 8
	return d, nil
}

// gorgonia is one device by way of gorgonia.org/cu. Modules, launches and memory of the
// host are calls of our own, in the context that cu makes current: cu has no cooperative
// launch and no cuMemHostAlloc.
type gorgonia struct {
	device  cu.Device
	context *cu.CUContext // nil: not open
	stream  *cu.Stream
	module  C.CUmodule
	kernels [kernels]C.CUfunction
}

func openDevice(n int) (driver, error) {
	d := new(gorgonia)
	if err := d.open(n); err != nil {
		return nil, cmp.Or(err, d.close())
	}
	return d, nil
}

// open takes the device's primary context, a stream and the kernels.
func (d *gorgonia) open(n int) (err error) {
	if d.device, err = cu.GetDevice(n); err != nil {
		return failure("cuDeviceGet", err)
	}
	context, err := d.device.RetainPrimaryCtx()
	if err != nil {
		return failure("cuDevicePrimaryCtxRetain", err)
	}
	d.context = &context
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	stream, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return failure("cuStreamCreate", err)
	}
	d.stream = &stream
	if err := d.load(); err != nil {
		return err
	}
	for k, name := range kernelNames {
		text := append([]byte(name), 0)
		if err := result("cuModuleGetFunction", C.cuModuleGetFunction(&d.kernels[k], d.module, (*C.char)(unsafe.Pointer(&text[0])))); err != nil {
			return err
		}
	}
	return nil
}

// load has the driver compile the kernels for the device. The error has the compiler's
// messages.
func (d *gorgonia) load() error {
	image, messages := append([]byte(kernelsPTX), 0), make([]byte, 4<<10)
	err := result("cuModuleLoadDataEx", C.load(&d.module, unsafe.Pointer(&image[0]), (*C.char)(unsafe.Pointer(&messages[0])), C.size_t(len(messages))))
	if err != nil {
		text, _, _ := bytes.Cut(messages, []byte{0})
		return fmt.Errorf("%w: the driver cannot compile the kernels (update it) %s", err, bytes.TrimSpace(text))
	}
	return nil
}

func (d *gorgonia) enter() error {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(*d.context); err != nil {
		runtime.UnlockOSThread()
		return failure("cuCtxSetCurrent", err)
	}
	return nil
}

func (d *gorgonia) leave() { runtime.UnlockOSThread() }

func (d *gorgonia) free() (int64, error) {
	free, _, err := cu.MemInfo()
	return free, failure("cuMemGetInfo", err)
}

func (d *gorgonia) alloc(bytes int64) (address, error) {
	at, err := cu.MemAlloc(bytes)
	return address(at), failure("cuMemAlloc", err)
}

func (d *gorgonia) release(at address) error {
	return failure("cuMemFree", cu.MemFree(cu.DevicePtr(at)))
}

func (d *gorgonia) shared(bytes int64) (p unsafe.Pointer, err error) {
	err = result("cuMemHostAlloc", C.cuMemHostAlloc(&p, C.size_t(bytes), 0))
	return p, err
}

func (d *gorgonia) releaseShared(p unsafe.Pointer) { _ = cu.MemFreeHost(p) }

func (d *gorgonia) upload(to address, from unsafe.Pointer, bytes int64) error {
	return failure("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(to), from, bytes, *d.stream))
}

func (d *gorgonia) download(to unsafe.Pointer, from address, bytes int64) error {
	return failure("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(to, cu.DevicePtr(from), bytes, *d.stream))
}

func (d *gorgonia) launch(k kernel, blocks int, arguments unsafe.Pointer) error {
	return result("cuLaunchKernel", C.launch(d.kernels[k], C.uint(blocks), blockThreads, d.current(), arguments, 0))
}

func (d *gorgonia) launchTogether(k kernel, blocks int, arguments unsafe.Pointer) error {
	return result("cuLaunchCooperativeKernel", C.launch(d.kernels[k], C.uint(blocks), blockThreads, d.current(), arguments, 1))
}

func (d *gorgonia) together(of ...kernel) (int, error) {
	can, err := d.device.Attribute(cu.DeviceAttribute(C.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
	if err != nil || can == 0 {
		return 0, cmp.Or(failure("cuDeviceGetAttribute", err), errNoCooperation)
	}
	least := math.MaxInt32
	for _, k := range of {
		var blocks C.int
		if err := result("cuOccupancyMaxActiveBlocksPerMultiprocessor", C.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, d.kernels[k], blockThreads, 0)); err != nil {
			return 0, err
		}
		least = min(least, int(blocks))
	}
	processors, err := d.device.Attribute(cu.MultiprocessorCount)
	return least * processors, failure("cuDeviceGetAttribute", err)
}

func (d *gorgonia) wait() error { return failure("cuStreamSynchronize", d.stream.Synchronize()) }

func (d *gorgonia) close() error {
	if d.context == nil {
		return nil
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	var errs []error
	if d.module != nil {
		errs = append(errs, result("cuModuleUnload", C.cuModuleUnload(d.module)))
	}
	if d.stream != nil {
		errs = append(errs, failure("cuStreamDestroy", d.stream.Destroy()))
	}
	return cmp.Or(append(errs, failure("cuDevicePrimaryCtxRelease", d.device.ReleasePrimaryCtx()))...)
}

// current is the stream in the types of this file.
func (d *gorgonia) current() C.CUstream { return C.CUstream(unsafe.Pointer(d.stream.C())) }

// failure is the error of a call of cu, by the name of the driver's function.
func failure(function string, err error) error {
	switch err {
	case nil:
		return nil
	case cu.OutOfMemory:
		return errNoMemory
	case cu.NoDevice:
		return errNoDevice
	case cu.LaunchTimeout:
		return errTimeout
	}
	return fmt.Errorf("gpu: %s: %w", function, err)
}

// result is the error of a call of our own.
func result(function string, r C.CUresult) error {
	switch r {
	case C.CUDA_SUCCESS:
		return nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return errNoMemory
	case C.CUDA_ERROR_LAUNCH_TIMEOUT:
		return errTimeout
	}
	var name, text *C.char
	C.cuGetErrorName(r, &name)
	C.cuGetErrorString(r, &text)
	return fmt.Errorf("gpu: %s: %s (%s)", function, C.GoString(name), C.GoString(text))
}

var _ driver = (*gorgonia)(nil)
