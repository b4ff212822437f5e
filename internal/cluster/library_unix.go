//go:build !nogpu && (linux || darwin) && (amd64 || arm64)

package cluster

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// function is a function of MPI.
type function int

const (
	mpiInitThread function = iota
	mpiCommSetErrhandler
	mpiCommRank
	mpiCommSize
	mpiGetLibraryVersion
	mpiErrorString
	mpiAllreduce
	mpiReduce
	mpiBcast
	mpiFinalize
	functions
)

var functionNames = [functions]string{
	"MPI_Init_thread", "MPI_Comm_set_errhandler", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Get_library_version",
	"MPI_Error_string", "MPI_Allreduce", "MPI_Reduce", "MPI_Bcast", "MPI_Finalize",
}

// most is the largest number of elements that one call passes: MPI counts in an int.
const most = 1 << 30

// library is an MPI library in use.
type library struct {
	handles
	file string
	at   [functions]uintptr
	args [7]uintptr     // arguments of collective
	data unsafe.Pointer // data of collective
	rank int
}

// open opens the library at path, or one that the system's linker finds: first libraries of
// the given interface, then others.
func open(path string, first abi) (*library, error) {
	if path != "" {
		return openFile(path, "")
	}
	var tried []string
	for _, wanted := range []bool{true, false} {
		for _, f := range files {
			if (f.abi == first) != wanted {
				continue
			}
			if lib, err := openFile(f.name, f.abi); err == nil {
				return lib, nil
			}
			tried = append(tried, f.name)
		}
	}
	return nil, fmt.Errorf("no MPI library was found (tried %s): load the launcher's module, or set D3P_MPI to its libmpi",
		strings.Join(tried, ", "))
}

// openFile opens one library. It determines kind if kind is empty.
func openFile(file string, kind abi) (*library, error) {
	leaveSignals()
	// Open MPI's plug-ins look for its symbols among the global ones.
	opened, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("the MPI library cannot be opened: %w", err)
	}
	lib := &library{file: file}
	for f, name := range functionNames {
		if lib.at[f], err = purego.Dlsym(opened, name); err != nil {
			return nil, fmt.Errorf("%s is no MPI library: it has no %s", file, name)
		}
	}
	if kind == "" {
		kind = kindOf(opened, file)
	}
	if kind != openMPI {
		lib.handles = constants[kind]
		return lib, nil
	}
	lib.inPlace, lib.serialized = 1, 2
	for i, to := range []*uintptr{&lib.world, &lib.double, &lib.bytes, &lib.long, &lib.sum, &lib.largest, &lib.errorsReturn} {
		if *to, err = purego.Dlsym(opened, symbols[i]); err != nil {
			return nil, fmt.Errorf("%s is no Open MPI 4 or 5: it has no %s", file, symbols[i])
		}
	}
	return lib, nil
}

// signalSettings are environment variables which, if empty, stop Open MPI and UCX (used by
// MPICH) from handling signals. Go handles signals on its own stacks.
var signalSettings = []string{"OMPI_MCA_opal_signal", "UCX_ERROR_SIGNALS"}

// leaveSignals stops the libraries from handling signals. They read the environment of the
// C library, which Go's os.Setenv does not change.
func leaveSignals() {
	setenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return // the libraries handle signals that would end the program anyway
	}
	empty := []byte{0}
	for _, name := range signalSettings {
		zeroEnded := append([]byte(name), 0)
		purego.SyscallN(setenv, uintptr(unsafe.Pointer(&zeroEnded[0])), uintptr(unsafe.Pointer(&empty[0])), 1)
		runtime.KeepAlive(zeroEnded)
	}
	runtime.KeepAlive(empty)
}

// kindOf is the interface of an opened library.
func kindOf(opened uintptr, file string) abi {
	if _, err := purego.Dlsym(opened, symbols[0]); err == nil {
		return openMPI
	}
	if strings.Contains(filepath.Base(file), "mpi_abi") {
		return standard
	}
	return mpich
}

// start initialises the library for calls from any thread, one at a time.
func (lib *library) start() (rank, size int, err error) {
	provided, place, number := new(int32), new(int32), new(int32)
	if err := lib.call(mpiInitThread, 0, 0, lib.serialized, uintptr(unsafe.Pointer(provided))); err != nil {
		return 0, 0, err
	}
	if uintptr(*provided) < lib.serialized {
		return 0, 0, fmt.Errorf("%s admits calls from its first thread alone (MPI_THREAD_SERIALIZED is needed)", lib.file)
	}
	if err := lib.call(mpiCommSetErrhandler, lib.world, lib.errorsReturn); err != nil {
		return 0, 0, err
	}
	if err := lib.call(mpiCommRank, lib.world, uintptr(unsafe.Pointer(place))); err != nil {
		return 0, 0, err
	}
	if err := lib.call(mpiCommSize, lib.world, uintptr(unsafe.Pointer(number))); err != nil {
		return 0, 0, err
	}
	lib.rank = int(*place)
	return int(*place), int(*number), nil
}

// call calls a function. Go memory that an argument points at stays where it is during
// the call.
//
//go:uintptrescapes
func (lib *library) call(f function, args ...uintptr) error {
	word, _, _ := purego.SyscallN(lib.at[f], args...)
	return lib.failure(f, int32(word))
}

// failure is the error for the return code of a function, nil for success.
func (lib *library) failure(f function, code int32) error {
	if code == 0 { // MPI_SUCCESS
		return nil
	}
	return fmt.Errorf("cluster: %s: %s", functionNames[f], lib.text(code))
}

// text is the library's text for an error.
func (lib *library) text(code int32) string {
	text, length := new([1024]byte), new(int32) // MPI_MAX_ERROR_STRING is at most 512
	word, _, _ := purego.SyscallN(lib.at[mpiErrorString], uintptr(code), uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(length)))
	if int32(word) != 0 || *length <= 0 || int(*length) > len(text) {
		return fmt.Sprintf("error %d", code)
	}
	return string(text[:*length])
}

// version is the first line of the library's version text.
func (lib *library) version() string {
	text, length := new([8192]byte), new(int32) // MPI_MAX_LIBRARY_VERSION_STRING is at most 8192
	if err := lib.call(mpiGetLibraryVersion, uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(length))); err != nil {
		return lib.file
	}
	line, _, _ := bytes.Cut(text[:min(max(*length, 0), int32(len(text)))], []byte("\n"))
	name, _, _ := strings.Cut(strings.Join(strings.Fields(string(bytes.Trim(line, "\x00"))), " "), ", package")
	return name
}

// add sums at rank 0.
func (lib *library) add(x []float64) error {
	return lib.inPieces(x, func(n int) error {
		from, into := uintptr(lib.data), uintptr(0)
		if lib.rank == 0 {
			from, into = lib.inPlace, from
		}
		lib.args = [7]uintptr{from, into, uintptr(n), lib.double, lib.sum, 0, lib.world}
		return lib.collective(mpiReduce, 7)
	})
}

// share sends x from rank 0.
func (lib *library) share(x []float64) error {
	return lib.inPieces(x, func(n int) error {
		lib.args = [7]uintptr{uintptr(lib.data), uintptr(n), lib.double, 0, lib.world}
		return lib.collective(mpiBcast, 5)
	})
}

// inPieces calls do for pieces of x that MPI can count. lib.data is the start of each
// piece.
func (lib *library) inPieces(x []float64, do func(n int) error) error {
	for len(x) > 0 {
		n := min(len(x), most)
		lib.data = unsafe.Pointer(&x[0])
		if err := do(n); err != nil {
			return err
		}
		x = x[n:]
	}
	lib.data = nil
	return nil
}

// collective calls f with the first n of lib.args. An argument may hold lib.data as a
// number: the field points to the heap, and Go does not move heap memory. Unlike call, this
// allocates nothing.
func (lib *library) collective(f function, n int) error {
	word, _, _ := purego.SyscallN(lib.at[f], lib.args[:n]...)
	return lib.failure(f, int32(word))
}

func (lib *library) max(x []int64) error {
	return lib.call(mpiAllreduce, lib.inPlace, uintptr(unsafe.Pointer(&x[0])), uintptr(len(x)), lib.long, lib.largest, lib.world)
}

func (lib *library) broadcast(b []byte, rank int) error {
	for len(b) > 0 {
		n := min(len(b), most)
		if err := lib.call(mpiBcast, uintptr(unsafe.Pointer(&b[0])), uintptr(n), lib.bytes, uintptr(rank), lib.world); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (lib *library) finish() error { return lib.call(mpiFinalize) }
