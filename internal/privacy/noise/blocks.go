package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// blocks is AES-256 with one key.
type blocks struct {
	cipher cipher.Block
	fast   schedule // of the machine's own instructions, if there are any
}

func newBlocks(key []byte) blocks {
	c, err := aes.NewCipher(key)
	if err != nil {
		panic("noise: " + err.Error()) // the key is 32 bytes
	}
	b := blocks{cipher: c}
	b.fast.expand(key)
	return b
}

// keystream sets dst, a multiple of 16 bytes, to AES(high || low),
// AES(high || low+1), ...
func (b *blocks) keystream(dst []byte, high, low uint64) {
	if b.fast.keystream(dst, high, low) {
		return
	}
	b.portable(dst, high, low)
}

// portable is keystream in terms of crypto/aes, and the reference of the
// faster ones. (cipher.NewCTR would allocate at every Seek.)
func (b *blocks) portable(dst []byte, high, low uint64) {
	for i := 0; i < len(dst); i += blockSize {
		block := dst[i : i+blockSize]
		binary.BigEndian.PutUint64(block, high)
		binary.BigEndian.PutUint64(block[8:], low)
		b.cipher.Encrypt(block, block)
		low++
	}
}

func (b *blocks) wipe() { *b = blocks{} }
