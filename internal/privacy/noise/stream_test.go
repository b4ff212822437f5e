package noise

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt: the output blocks.
func TestCounterModeNIST(t *testing.T) {
	s := newStream(unhex(t, "603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4"))
	s.SeekBlock(0xf0f1f2f3f4f5f6f7, 0xf8f9fafbfcfdfeff)
	want := unhex(t, "0bdf7df1591716335e9a8b15c860c502 5a6e699d536119065433863c8f657b94"+
		"1bc12c9c01610d5d0d8bd6a3378eca62 2956e1c8693536b1bee99c73a31576b6")
	got := make([]byte, len(want))
	s.Fill(got)
	if !bytes.Equal(got, want) {
		t.Errorf("key stream\n%x, want\n%x", got, want)
	}
}

// However the bytes of a step are asked for, they are the same bytes.
func TestFillIsOneSequence(t *testing.T) {
	s := Insecure(1).Stream(Sampling)
	s.Seek(7)
	want := make([]byte, 5000)
	s.Fill(want)
	for _, piece := range []int{1, 3, 8, 16, 511, 512, 513, 1024, 1700} {
		s.Seek(7)
		got := make([]byte, 0, len(want))
		for len(got) < len(want) {
			n := min(piece, len(want)-len(got))
			got = got[:len(got)+n]
			s.Fill(got[len(got)-n:])
		}
		if !bytes.Equal(got, want) {
			t.Errorf("pieces of %d bytes differ from one fill", piece)
		}
	}
	s.SeekBlock(7, 3)
	got := make([]byte, 100)
	s.Fill(got)
	if !bytes.Equal(got, want[48:148]) {
		t.Error("SeekBlock(7, 3) is not 48 bytes into step 7")
	}
	c := s.Clone()
	c.Seek(7)
	c.Fill(got)
	if !bytes.Equal(got, want[:100]) {
		t.Error("a clone reads other numbers")
	}
}

func TestStepsAndPurposesDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for p := range purposes {
		s := Insecure(1).Stream(Purpose(p))
		for step := range uint64(100) {
			s.Seek(step)
			for i := range 100 {
				w := s.Uint64()
				if at, ok := seen[w]; ok {
					t.Fatalf("%v step %d word %d repeats %s", Purpose(p), step, i, at)
				}
				seen[w] = fmt.Sprintf("%v step %d word %d", Purpose(p), step, i)
			}
		}
	}
}

func TestCounterOverflowIsRefused(t *testing.T) {
	s := Insecure(1).Stream(Sampling)
	s.SeekBlock(3, 1<<64-1-bufferSize/blockSize) // one buffer is left, and one block
	s.Fill(make([]byte, bufferSize))
	defer func() {
		if recover() == nil {
			t.Error("the counter ran over into the next step")
		}
	}()
	s.Fill(make([]byte, bufferSize))
}

func TestWipe(t *testing.T) {
	r := Insecure(1)
	s := r.Stream(GradientNoise)
	s.Uint64()
	r.Wipe()
	if *r.key != [32]byte{} {
		t.Error("root key survives Wipe")
	}
	s.Wipe()
	if s.buf != [bufferSize]byte{} {
		t.Error("buffered numbers survive Wipe")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wiped stream still draws")
		}
	}()
	s.Uint64()
}
