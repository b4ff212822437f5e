//go:build nogpu || !((linux || darwin) && (amd64 || arm64))

package cluster

import "errors"

// library is never available in a static program, or on systems without a linker that d3p
// can use.
type library struct{ file string }

var errSystem = errors.New("this d3p is linked statically or for a system on which it opens no MPI library: use the one that make builds on linux or darwin, amd64 or arm64")

func open(string, abi) (*library, error)            { return nil, errSystem }
func (*library) start() (rank, size int, err error) { return 0, 0, errSystem }
func (*library) version() string                    { return "" }
func (*library) add([]float64) error                { return errSystem }
func (*library) share([]float64) error              { return errSystem }
func (*library) max([]int64) error                  { return errSystem }
func (*library) broadcast([]byte, int) error        { return errSystem }
func (*library) finish() error                      { return nil }
