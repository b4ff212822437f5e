package storage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// scratch is a file without a name. It disappears when no process has it open, also if the
// process is killed.
type scratch struct{ file *os.File }

const tmpfile = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE of Linux

// newScratch makes a scratch file of size bytes in folder, readable by this user alone. Its
// errors do not state the size, which is about the number of records. It reserves the space
// on the disk at once, so that no later write can fail for lack of it.
func newScratch(folder *os.Root, size int) (*scratch, error) {
	f, err := folder.OpenFile(".", os.O_RDWR|os.O_EXCL|tmpfile, 0o600)
	if err != nil { // a file system without such files
		name := ".table" + rand.Text() // several processes may be here
		if f, err = folder.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = folder.Remove(name)
		}
	}
	if err == nil {
		err = f.Truncate(int64(size))
	}
	if err == nil {
		if err = syscall.Fallocate(int(f.Fd()), 0, 0, int64(size)); errors.Is(err, syscall.EOPNOTSUPP) {
			err = nil
		}
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, fmt.Errorf("the table on disk, in %s: %w (name a roomier disk with --out, or type --table memory)", folder.Name(), err)
	}
	return &scratch{f}, nil
}

func (s *scratch) close() {
	if s != nil {
		s.file.Close()
	}
}

// hugePage is the size of a huge page in bytes.
const hugePage = 2 << 20

// mapped returns memory of a file, or anonymous memory. It asks the kernel for huge pages:
// a step reads rows at random, and with small pages finding a row costs a third more. This
// is advice: refusal does no harm.
func mapped(file *scratch, size int) ([]byte, error) {
	if file != nil {
		return syscall.Mmap(int(file.file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	skip := int(-uintptr(unsafe.Pointer(&memory[0])) % hugePage)
	if whole := (size - skip) / hugePage * hugePage; whole > 0 {
		_ = syscall.Madvise(memory[skip:skip+whole], syscall.MADV_HUGEPAGE)
	}
	return memory, nil
}

func unmap(memory []byte) { _ = syscall.Munmap(memory) }

// resident reports whether the kernel has a page of a file in memory.
func resident(page []byte) bool {
	var state byte
	_, _, failed := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&page[0])), uintptr(len(page)), uintptr(unsafe.Pointer(&state)))
	return failed == 0 && state&1 != 0
}

// Advice to the kernel.
const soon, randomly = syscall.MADV_WILLNEED, syscall.MADV_RANDOM

func advise(memory []byte, advice int) {
	if len(memory) > 0 {
		_ = syscall.Madvise(memory, advice)
	}
}
