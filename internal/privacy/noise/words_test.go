package noise

import (
	"encoding/binary"
	"testing"
)

func TestWordsAreLittleEndianBytes(t *testing.T) {
	s := Insecure(41).Stream(Sampling)
	for _, n := range []int{0, 1, 7, 600} {
		bytes := make([]byte, 4*n)
		s.Seek(1)
		s.Fill(bytes)
		s.Seek(1)
		short := make([]uint16, n)
		s.Words16(short)
		s.Seek(1)
		long := make([]uint32, n)
		s.Words32(long)
		for i := range n {
			if short[i] != binary.LittleEndian.Uint16(bytes[2*i:]) || long[i] != binary.LittleEndian.Uint32(bytes[4*i:]) {
				t.Fatalf("word %d of %d is not the bytes there", i, n)
			}
		}
	}
}
