package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// canMount tells whether a tmpfs may be mounted, which needs root.
func canMount() bool {
	dir, err := os.MkdirTemp("", "d3p-mount-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") != nil {
		return false
	}
	return syscall.Unmount(dir, 0) == nil
}

// smallDisk is the script command `smalldisk FOLDER KIB`: it mounts a file
// system of that size for the rest of the script.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: smalldisk folder kib")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o755))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%sk", args[1])))
	ts.Defer(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}
