package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// blocks is AES-256 with one key.
type blocks struct {
	cipher cipher.Block
}

func newBlocks(key []byte) blocks {
	c, err := aes.NewCipher(key)
	if err != nil {
		panic("noise: " + err.Error()) // the key is 32 bytes
	}
	return blocks{c}
}

// keystream sets dst to AES(high || low), AES(high || low+1), ...
func (b *blocks) keystream(dst []byte, high, low uint64) {
	for i := 0; i < len(dst); i += blockSize {
		binary.BigEndian.PutUint64(dst[i:], high)
		binary.BigEndian.PutUint64(dst[i+8:], low)
		b.cipher.Encrypt(dst[i:i+blockSize], dst[i:i+blockSize])
		low++
	}
}

func (b *blocks) wipe() { b.cipher = nil }
