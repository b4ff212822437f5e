//go:build linux && !nogpu

package gpu

import (
	"bytes"
	"encoding/binary"
	"io"
	"os/exec"
	"testing"
	"unsafe"

	"d3p/internal/stattest"
)

// served is the driver of a program that has the kernels (testdata/server.cpp), compiled
// for blocks of as many threads as on a device, each a fiber, under the sanitizers of its
// flags. A finding ends the program.
type served struct {
	t      testing.TB
	in     io.WriteCloser
	out    io.Reader
	errors bytes.Buffer
}

// Commands of testdata/server.cpp.
const (
	serveAlloc uint64 = iota
	serveRelease
	serveUpload
	serveDownload
	serveLaunch
	serveTogether
	serveCycles
)

// newServed compiles and starts the program.
func newServed(t testing.TB, flags ...string) *served {
	t.Helper()
	file, err := compileKernels(append(flags, "-rdynamic", "testdata/server.cpp", "-ldl")...)
	mustCompile(t, err)
	d := &served{t: t}
	run := exec.Command(file)
	run.Env = append(run.Environ(), "TSAN_OPTIONS=halt_on_error=1", "ASAN_OPTIONS=detect_leaks=0")
	run.Stderr = &d.errors
	if d.in, err = run.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if d.out, err = run.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.in.Close()
		if err := run.Wait(); err != nil {
			t.Errorf("%v: %s", err, d.errors.Bytes())
		}
	})
	return d
}

// call sends a command with its data and returns the answer.
func (d *served) call(answer []byte, command [3]uint64, more ...[]byte) error {
	if err := binary.Write(d.in, binary.LittleEndian, command); err != nil {
		return err
	}
	for _, m := range more {
		if _, err := d.in.Write(m); err != nil {
			return err
		}
	}
	_, err := io.ReadFull(d.out, answer)
	return err
}

// number is a call that comes back with a number.
func (d *served) number(command [3]uint64, more ...[]byte) (uint64, error) {
	var answer [8]byte
	err := d.call(answer[:], command, more...)
	return binary.LittleEndian.Uint64(answer[:]), err
}

func (d *served) enter() error         { return nil }
func (d *served) leave()               {}
func (d *served) free() (int64, error) { return 1 << 30, nil }

func (d *served) alloc(bytes int64) (address, error) {
	at, err := d.number([3]uint64{serveAlloc, uint64(bytes)})
	return address(at), err
}

func (d *served) release(at address) error {
	_, err := d.number([3]uint64{serveRelease, uint64(at)})
	return err
}

func (d *served) shared(bytes int64) (unsafe.Pointer, error) {
	return unsafe.Pointer(&make([]uint64, (bytes+7)/8)[0]), nil
}

func (d *served) releaseShared(unsafe.Pointer) {}

func (d *served) upload(to address, from unsafe.Pointer, bytes int64) error {
	_, err := d.number([3]uint64{serveUpload, uint64(to), uint64(bytes)}, unsafe.Slice((*byte)(from), bytes))
	return err
}

func (d *served) download(to unsafe.Pointer, from address, bytes int64) error {
	return d.call(unsafe.Slice((*byte)(to), bytes), [3]uint64{serveDownload, uint64(from), uint64(bytes)})
}

func (d *served) launch(k kernel, blocks int, args unsafe.Pointer) error {
	size := unsafe.Sizeof(arguments{})
	switch k {
	case stepsKernel:
		size = unsafe.Sizeof(runs{})
	case elementsKernel:
		size = unsafe.Sizeof(elements{})
	}
	var name [16]byte
	copy(name[:], kernelNames[k])
	_, err := d.number([3]uint64{serveLaunch, uint64(blocks), uint64(size)}, name[:], unsafe.Slice((*byte)(args), size))
	return err
}

func (d *served) together(...kernel) (int, error) {
	n, err := d.number([3]uint64{serveTogether})
	return int(n), err
}

func (d *served) launchTogether(k kernel, blocks int, args unsafe.Pointer) error {
	return d.launch(k, blocks, args)
}

func (d *served) wait() error  { return nil }
func (d *served) close() error { return nil }

// Blocks of 256 threads compute the bits of one thread, and no two of them touch a
// place in memory without a barrier in between: what compute-sanitizer's racecheck and
// synccheck look for on a device. TestPTX also looks for places that are not theirs.
func TestThreads(t *testing.T) {
	if stattest.Race {
		t.Skip("Go's race detector does not see what happens in another program")
	}
	t.Parallel()
	checkBlocks(t, newServed(t, "-fsanitize=thread,undefined", "-fno-sanitize-recover=all", "-O1", "-DTHREADS=256"), wideProducts)
}

// checkBlocks compares blocks of threads with one thread; modelsWideFrom as in
// checkSameBits.
func checkBlocks(t *testing.T, d driver, modelsWideFrom int64) {
	checkSameBits(t, newEngine("cuda:test", d, Options{}), newOneThread(t, 1<<30), 200, 2, modelsWideFrom)
	t.Run("replicates", func(t *testing.T) {
		checkReplicates(t, newEngine("cuda:test", d, Options{}), newEngine("cuda:test", newOneThread(t, 1<<30), Options{}))
	})
	t.Run("packed tables", func(t *testing.T) { checkPacked(t, d) })
}
