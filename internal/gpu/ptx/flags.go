package ptx

import (
	"fmt"
	"path/filepath"
)

// Flags are the flags of g++ or clang++ for a source with
//
//	#include KERNELS
//
// so that KERNELS is a translated file. gpu is the folder internal/gpu; blocks have
// `threads` threads. Floating-point arithmetic follows the ISA: each operation is
// rounded.
func Flags(gpu, file string, threads int) []string {
	return []string{
		"-std=c++17", fmt.Sprintf("-DTHREADS=%d", threads), fmt.Sprintf("-DKERNELS=%q", file),
		"-I" + filepath.Join(gpu, "kernel"), "-I" + filepath.Join(gpu, "ptx", "machine"),
		"-O1", "-g1", "-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing",
	}
}
