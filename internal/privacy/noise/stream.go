package noise

import (
	"encoding/binary"
	"math"
)

// Stream is a seekable sequence of uniform bits: AES-256 in counter mode. The
// counter block of 16 bytes is the step (64 bits, high) and the block within
// the step (64 bits, low), both big-endian. A stream that was not sought is at
// step 0. Not safe for concurrent use; Clone one per goroutine.
type Stream struct {
	key  [32]byte
	aes  blocks
	step uint64
	next uint64 // block that the next refill starts at
	used int    // bytes of buf already handed out
	buf  [bufferSize]byte
	word [8]byte              // joins a word that crosses the buffer's end
	last [normalGroup]float64 // holds the last, short group of normals

	lattice *lattice // of AddGaussian
}

const (
	blockSize  = 16
	bufferSize = 256
)

func newStream(key []byte) *Stream {
	return &Stream{key: [32]byte(key), aes: newBlocks(key), used: bufferSize}
}

// Clone returns an independent reader of the same sequence, at step 0.
func (s *Stream) Clone() *Stream { return &Stream{key: s.key, aes: s.aes, used: bufferSize} }

// Keyed is the stream of a key that another process has sent.
func Keyed(key [32]byte) *Stream { return newStream(key[:]) }

// Key is the AES-256 key, for an engine that makes the stream's numbers on a
// device, or another process of the job. Whoever has it can subtract the noise: it stays with the records, and
// is overwritten after use.
func (s *Stream) Key() [32]byte { return s.key }

// Seek moves to the start of a step. The numbers after it repeat those after the last Seek
// to that step: draw a step's numbers once.
func (s *Stream) Seek(step uint64) { s.SeekBlock(step, 0) }

// SeekBlock moves to a block of 16 bytes within a step. Independent parts of a
// step that start at fixed blocks can be drawn in any order.
func (s *Stream) SeekBlock(step, block uint64) {
	s.step, s.next, s.used = step, block, bufferSize
}

// keystream sets dst, a multiple of 16 bytes, to the next blocks. It refuses to
// run over into the next step's counters.
func (s *Stream) keystream(dst []byte) {
	n := uint64(len(dst) / blockSize)
	if s.next > math.MaxUint64-n {
		panic("noise: counter overflow within one step")
	}
	s.aes.keystream(dst, s.step, s.next)
	s.next += n
}

// Fill sets p to the next len(p) bytes.
func (s *Stream) Fill(p []byte) {
	n := copy(p, s.buf[s.used:])
	s.used += n
	p = p[n:]
	if whole := len(p) &^ (blockSize - 1); whole >= bufferSize {
		s.keystream(p[:whole])
		p = p[whole:]
	}
	for len(p) > 0 {
		s.refill()
		n := copy(p, s.buf[:])
		s.used = n
		p = p[n:]
	}
}

func (s *Stream) refill() {
	s.keystream(s.buf[:])
	s.used = 0
}

// Uint64 returns the next 8 bytes as a little-endian number, uniform on
// [0, 2^64).
func (s *Stream) Uint64() uint64 {
	if s.used <= bufferSize-8 {
		w := binary.LittleEndian.Uint64(s.buf[s.used:])
		s.used += 8
		return w
	}
	s.Fill(s.word[:])
	return binary.LittleEndian.Uint64(s.word[:])
}

// Wipe overwrites the numbers kept for later and drops the key; the stream
// panics when used again. Go may have left other copies of the key.
func (s *Stream) Wipe() {
	clear(s.key[:])
	s.aes.wipe()
	clear(s.buf[:])
	clear(s.word[:])
	clear(s.last[:])
	s.lattice = nil
	s.used = bufferSize
}
