//go:build !amd64 || purego

package noise

// schedule is empty where no own instructions are used.
type schedule struct{}

func (*schedule) expand([]byte) {}

func (*schedule) keystream([]byte, uint64, uint64) bool { return false }
