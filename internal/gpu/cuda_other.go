//go:build !linux || nogpu || !(amd64 || arm64)

package gpu

import "errors"

// Devices lists the CUDA devices of this machine; the error is the reason why there are
// none.
func Devices() ([]Device, error) {
	return nil, errors.New("this build has no CUDA engine")
}

// New returns the engine of the n-th device.
func New(n int, _ Options) (*Engine, error) {
	_, err := Devices()
	return nil, err
}
