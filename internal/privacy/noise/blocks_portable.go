//go:build !amd64 || purego

package noise

// schedule is empty without AES instructions.
type schedule struct{}

func (*schedule) expand([]byte) {}

func (*schedule) keystream([]byte, uint64, uint64) bool { return false }
