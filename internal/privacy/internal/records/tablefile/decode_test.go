package tablefile

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"d3p/internal/models/spec"
)

// Every encoding that a model file may name has its table.
func TestEveryEncodingIsThere(t *testing.T) {
	for _, name := range spec.Encodings() {
		if charmaps[name] == nil && !strings.HasPrefix(name, "utf-") {
			t.Errorf("no table for %s", name)
		}
	}
}

// Different bytes are different text in every encoding, so two ids are equal only if their
// bytes are. The test tries all pairs of bytes, and pairs of units of UTF-16 around
// surrogates.
func TestDecodingIsInjective(t *testing.T) {
	var pairs [][]byte
	for a := range 256 {
		pairs = append(pairs, []byte{byte(a)})
		for b := range 256 {
			pairs = append(pairs, []byte{byte(a), byte(b)})
		}
	}
	units := []uint16{0, '1', 0xd7ff, 0xd800, 0xd801, 0xdbff, 0xdc00, 0xdc01, 0xdfff, 0xe000, 0xfffd, 0xffff}
	for _, a := range units {
		for _, b := range units {
			for _, c := range units {
				pairs = append(pairs, []byte{byte(a), byte(a >> 8), byte(b), byte(b >> 8), byte(c), byte(c >> 8)},
					[]byte{byte(a >> 8), byte(a), byte(b >> 8), byte(b), byte(c >> 8), byte(c)})
			}
		}
	}
	slices.SortFunc(pairs, bytes.Compare)
	pairs = slices.CompactFunc(pairs, bytes.Equal)
	for _, name := range spec.Encodings() {
		decode := func(in []byte) []byte { return in }
		if d, ok := Decoded(nil, name).(*decoder); ok {
			decode = func(in []byte) []byte { out, _ := d.decode(nil, in, true); return out }
		}
		seen := map[string][]byte{}
		for _, p := range pairs {
			out := string(decode(p))
			if other := seen[out]; other != nil {
				t.Fatalf("%s: %x and %x are both %x", name, p, other, out)
			}
			seen[out] = p
		}
		text := slices.Concat(pairs...)
		for _, src := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			if got, err := io.ReadAll(Decoded(src, name)); err != nil || !bytes.Equal(got, decode(text)) {
				t.Errorf("%s: a stream is decoded in another way: %v", name, err)
			}
		}
	}
}
