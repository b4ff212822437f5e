//go:build !nogpu && (amd64 || arm64)

package gpu

import (
	_ "embed"
	"errors"
	"fmt"
)

var (
	errNoDevice      = errors.New("the NVIDIA driver finds no device")
	errTimeout       = errors.New("the NVIDIA driver ended a kernel that ran for seconds, as it does on cards that drive a display (use another card, or --device cpu)")
	errNoCooperation = errors.New("gpu: blocks cannot wait for each other on this device (use --device cpu)")
)

// kernelsPTX are the kernels for compute capability 7.0, which the driver
// compiles for the device it has. `make ptx` writes them from kernel/.
//
//go:embed kernels.ptx
var kernelsPTX string

// New returns the engine of the n-th device, or one that is opt.Turn places behind it.
// The error is the reason why d3p cannot use it.
func New(n int, opt Options) (*Engine, error) {
	all, err := Devices()
	if err != nil {
		return nil, err
	}
	n = opt.device(n, len(all))
	if n < 0 || n >= len(all) {
		return nil, fmt.Errorf("there is no cuda:%d: the devices are 0 to %d", n, len(all)-1)
	}
	if err := all[n].Usable(); err != nil {
		return nil, err
	}
	d, err := openDevice(n)
	if err != nil {
		return nil, err
	}
	return newEngine(fmt.Sprintf("cuda:%d", n), d, opt), nil
}
