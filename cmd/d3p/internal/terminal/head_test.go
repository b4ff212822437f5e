package terminal

import (
	"bytes"
	"fmt"
	"testing"
)

// However a text is cut into writes, the first lines arrive and the others are counted.
func TestHead(t *testing.T) {
	text := "a\nbb\n\nc\nlast"
	for size := 1; size <= len(text); size++ {
		for lines, want := range map[int]string{0: "", 2: "a\nbb\n", 3: "a\nbb\n\n", 9: text} {
			var out bytes.Buffer
			h := &Head{To: &out, Lines: lines}
			for at := 0; at < len(text); at += size {
				fmt.Fprint(h, text[at:min(at+size, len(text))])
			}
			if left := max(0, 4-lines); out.String() != want || h.Left != left {
				t.Errorf("%d lines in writes of %d: %q and %d more, want %q and %d", lines, size, out.String(), h.Left, want, left)
			}
		}
	}
}
