package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"
)

// A driver runs kernels on one device, in the order of the calls. Uploads, downloads and
// launches may return before they are done. Until wait returns, the caller must not
// change or free an uploaded buffer, nor read a downloaded one. One goroutine at a time
// uses a driver, between enter and leave.
//
// There are two: the CUDA driver, loaded at run time, and for tests the same
// kernels compiled for one thread.
type driver interface {
	// enter binds the device to the calling thread until leave.
	enter() error
	leave()
	// free is the memory in bytes that an alloc can still get.
	free() (int64, error)
	alloc(bytes int64) (address, error) // errNoMemory when there is not enough
	release(at address) error
	// shared is memory of the host that uploads and downloads copy directly.
	shared(bytes int64) (unsafe.Pointer, error)
	releaseShared(p unsafe.Pointer)
	upload(to address, from unsafe.Pointer, bytes int64) error
	download(to unsafe.Pointer, from address, bytes int64) error
	// launch runs a kernel on `blocks` blocks; arguments, of the given size, are
	// read before it returns.
	launch(k kernel, blocks int, arguments unsafe.Pointer) error
	// together is the most blocks of each of some kernels that run at the same
	// time; launchTogether launches no more, which may then wait for each other.
	together(of ...kernel) (int, error)
	launchTogether(k kernel, blocks int, arguments unsafe.Pointer) error
	wait() error
	close() error
}

// read is a download that is done when it returns.
func read(d driver, to unsafe.Pointer, from address, bytes int64) error {
	return cmp.Or(d.download(to, from, bytes), d.wait())
}

// An address is a place in a device's memory.
type address uint64

// errNoMemory is a driver's answer to an alloc of more than there is.
var errNoMemory = errors.New("gpu: out of memory")

// A kernel is an entry of kernel/kernels.cu.
type kernel int

const (
	globalsKernel kernel = iota
	recordsKernel
	finishKernel
	stepsKernel
	elementsKernel
	kernels
)

var kernelNames = [kernels]string{"d3p_globals", "d3p_records", "d3p_finish", "d3p_steps", "d3p_elements"}

// blockThreads is how many threads a block has.
const blockThreads = 256

// A Device describes a device of this machine.
type Device struct {
	Index  int    // n of cuda:n
	Name   string // as the maker calls it
	Memory int64  // bytes
	// Capability is the compute capability, 10·major + minor: 90 for 9.0.
	Capability int
	// Bandwidth is the peak of its memory in bytes per second; 0 is unknown.
	Bandwidth float64
}

// leastCapability is what kernels.ptx is compiled for.
const leastCapability = 70

// Usable returns the reason why a device cannot run the kernels.
func (d Device) Usable() error {
	if d.Capability < leastCapability {
		return fmt.Errorf("%s has compute capability %d.%d: at least %d.%d is needed", d.Name,
			d.Capability/10, d.Capability%10, leastCapability/10, leastCapability%10)
	}
	return nil
}
