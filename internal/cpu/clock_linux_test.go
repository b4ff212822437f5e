package cpu

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime is the processor time of this thread: what others do on the
// machine adds less to it than to the time by the clock.
func threadTime() time.Duration {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	var now syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&now)), 0); err != 0 {
		panic(err)
	}
	return time.Duration(now.Nano())
}
