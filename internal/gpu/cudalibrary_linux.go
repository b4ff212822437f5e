//go:build !nogpu && (amd64 || arm64)

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
		return errors.New("the NVIDIA driver finds no device")
	case cudaErrorLaunchTimeout:
		return errors.New("the NVIDIA driver ended a kernel that ran for seconds, as it does on cards that drive a display (use another card, or --device cpu)")
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
