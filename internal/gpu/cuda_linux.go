//go:build !nogpu && !cu && (amd64 || arm64)

package gpu

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"runtime"
	"unsafe"
)

// Devices lists the CUDA devices of this machine; the error is the reason why there are
// none.
func Devices() ([]Device, error) {
	c, err := loadCUDA()
	if err != nil {
		return nil, err
	}
	return c.devices()
}

// cudaDriver is one device of the CUDA driver.
type cudaDriver struct {
	*cuda
	device, context, stream, module uintptr
	kernels                         [kernels]uintptr
	arguments                       *[1]uintptr // of a launch: where they are
}

func openDevice(n int) (driver, error) {
	c, err := loadCUDA()
	if err != nil {
		return nil, err
	}
	d := &cudaDriver{cuda: c}
	if err := d.open(n); err != nil {
		return nil, cmp.Or(err, d.close())
	}
	return d, nil
}

// open takes the device's primary context, a stream, the kernels and a word of
// shared memory.
func (d *cudaDriver) open(n int) (err error) {
	if d.device, err = d.word(cuDeviceGet, uintptr(n)); err != nil {
		return err
	}
	d.device = uintptr(int32(d.device))
	if d.context, err = d.word(cuDevicePrimaryCtxRetain, d.device); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if d.stream, err = d.word(cuStreamCreate, streamNonBlocking); err != nil {
		return err
	}
	if err := d.load(); err != nil {
		return err
	}
	for k, name := range kernelNames {
		text := append([]byte(name), 0)
		if d.kernels[k], err = d.word(cuModuleGetFunction, d.module, uintptr(unsafe.Pointer(&text[0]))); err != nil {
			return err
		}
	}
	p, err := d.shared(8)
	d.arguments = (*[1]uintptr)(p)
	return err
}

// load has the driver compile the kernels for the device, which takes seconds; it
// keeps the result for the next process (~/.nv/ComputeCache). The error has the
// compiler's messages.
func (d *cudaDriver) load() (err error) {
	image, messages := append([]byte(kernelsPTX), 0), make([]byte, 4<<10)
	options := &[2]uint32{jitErrorLog, jitErrorLogBytes}
	values := &[2]uintptr{uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages))}
	defer runtime.KeepAlive(messages)
	d.module, err = d.word(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&image[0])), uintptr(len(options)),
		uintptr(unsafe.Pointer(options)), uintptr(unsafe.Pointer(values)))
	if err != nil {
		text, _, _ := bytes.Cut(messages, []byte{0})
		return fmt.Errorf("%w: the driver cannot compile the kernels (update it) %s", err, bytes.TrimSpace(text))
	}
	return nil
}

func (d *cudaDriver) enter() error {
	runtime.LockOSThread()
	if err := d.call(cuCtxSetCurrent, d.context); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	return nil
}

func (d *cudaDriver) leave() { runtime.UnlockOSThread() }

func (d *cudaDriver) free() (int64, error) {
	sizes := new([2]uintptr)
	err := d.call(cuMemGetInfo_v2, uintptr(unsafe.Pointer(&sizes[0])), uintptr(unsafe.Pointer(&sizes[1])))
	return int64(sizes[0]), err
}

func (d *cudaDriver) alloc(bytes int64) (address, error) {
	at, err := d.word(cuMemAlloc_v2, uintptr(bytes))
	return address(at), err
}

func (d *cudaDriver) release(at address) error { return d.call(cuMemFree_v2, uintptr(at)) }

func (d *cudaDriver) shared(bytes int64) (unsafe.Pointer, error) {
	at, err := d.word(cuMemHostAlloc, uintptr(bytes), 0)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at)), err
}

func (d *cudaDriver) releaseShared(p unsafe.Pointer) { _ = d.call(cuMemFreeHost, uintptr(p)) }

func (d *cudaDriver) upload(to address, from unsafe.Pointer, bytes int64) error {
	return d.call(cuMemcpyHtoDAsync_v2, uintptr(to), uintptr(from), uintptr(bytes), d.stream)
}

func (d *cudaDriver) download(to unsafe.Pointer, from address, bytes int64) error {
	return d.call(cuMemcpyDtoHAsync_v2, uintptr(to), uintptr(from), uintptr(bytes), d.stream)
}

func (d *cudaDriver) launch(k kernel, blocks int, arguments unsafe.Pointer) error {
	d.arguments[0] = uintptr(arguments)
	defer runtime.KeepAlive(arguments)
	return d.call(cuLaunchKernel, d.kernels[k], uintptr(blocks), 1, 1, blockThreads, 1, 1, 0, d.stream,
		uintptr(unsafe.Pointer(d.arguments)), 0)
}

func (d *cudaDriver) together(of ...kernel) (int, error) {
	can, err := d.word(cuDeviceGetAttribute, attributeCooperative, d.device)
	if err != nil || int32(can) == 0 {
		return 0, cmp.Or(err, errNoCooperation)
	}
	least := math.MaxInt32
	for _, k := range of {
		blocks, err := d.word(cuOccupancyMaxActiveBlocksPerMultiprocessor, d.kernels[k], blockThreads, 0)
		if err != nil {
			return 0, err
		}
		least = min(least, int(int32(blocks)))
	}
	processors, err := d.word(cuDeviceGetAttribute, attributeMultiprocessors, d.device)
	return least * int(int32(processors)), err
}

func (d *cudaDriver) launchTogether(k kernel, blocks int, arguments unsafe.Pointer) error {
	d.arguments[0] = uintptr(arguments)
	defer runtime.KeepAlive(arguments)
	return d.call(cuLaunchCooperativeKernel, d.kernels[k], uintptr(blocks), 1, 1, blockThreads, 1, 1, 0, d.stream,
		uintptr(unsafe.Pointer(d.arguments)))
}

func (d *cudaDriver) wait() error { return d.call(cuStreamSynchronize, d.stream) }

func (d *cudaDriver) close() error {
	if d.context == 0 {
		return nil
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	var errs []error
	if d.arguments != nil {
		d.releaseShared(unsafe.Pointer(d.arguments))
	}
	if d.module != 0 {
		errs = append(errs, d.call(cuModuleUnload, d.module))
	}
	if d.stream != 0 {
		errs = append(errs, d.call(cuStreamDestroy_v2, d.stream))
	}
	return cmp.Or(append(errs, d.call(cuDevicePrimaryCtxRelease_v2, d.device))...)
}

var _ driver = (*cudaDriver)(nil)
