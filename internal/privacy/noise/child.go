package noise

import (
	"crypto/hkdf"
	"crypto/sha256"
	"strconv"
)

// Child returns the root of the n-th use of r, of the same kind: its streams are
// independent of those of r and of every other child, so that two sessions on
// the same records never add the same noise. Its key is HKDF-SHA256(secret =
// key of r, salt = "d3p noise v1", info = "child n"), RFC 5869.
func (r Root) Child(n uint64) Root {
	if r.key == nil {
		panic("noise: child asked of the zero Root")
	}
	key, err := hkdf.Key(sha256.New, r.key[:], []byte("d3p noise v1"), "child "+strconv.FormatUint(n, 10), 32)
	if err != nil {
		panic("noise: " + err.Error()) // 32 bytes are below HKDF's limit of 8160
	}
	return Root{key: (*[32]byte)(key), kind: r.kind}
}
