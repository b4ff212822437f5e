package records

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a huge page in bytes.
const hugePage = 2 << 20

// adviseHuge asks the kernel for huge pages behind the room of x, which nothing
// has touched yet: a step reads rows at random, and with small pages a row costs
// a third more for finding where it is. It is advice: refusal does no harm.
func adviseHuge[T float32 | float64](x []T) {
	room := x[:cap(x)]
	size := len(room) * int(unsafe.Sizeof(T(0)))
	if size < 2*hugePage {
		return
	}
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&room[0])), size)
	skip := int(-uintptr(unsafe.Pointer(&room[0])) % hugePage)
	_ = syscall.Madvise(memory[skip:skip+(size-skip)/hugePage*hugePage], syscall.MADV_HUGEPAGE)
}
