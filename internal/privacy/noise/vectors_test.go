package noise

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
)

// lines calls each for every line of a file under testdata that is not a
// comment.
func lines(t *testing.T, name string, each func(line string)) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for in := bufio.NewScanner(f); in.Scan(); {
		if line := in.Text(); !strings.HasPrefix(line, "#") {
			each(line)
			n++
		}
	}
	if n < 50 {
		t.Fatalf("%s: only %d vectors", name, n)
	}
}

// Key derivation, key stream and counter layout against an implementation on
// OpenSSL (testdata/generate.py).
func TestStreamVectors(t *testing.T) {
	lines(t, "streams.txt", func(line string) {
		var seed, step, block uint64
		var purpose uint32
		var want string
		if _, err := fmt.Sscan(line, &seed, &purpose, &step, &block, &want); err != nil {
			t.Fatal(err)
		}
		s := Insecure(seed).Stream(Purpose(purpose))
		s.SeekBlock(step, block)
		var got [32]byte
		s.Fill(got[:])
		if hex.EncodeToString(got[:]) != want {
			t.Errorf("%s: got %x", line, got)
		}
	})
}
