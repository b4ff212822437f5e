package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// deltaEncoded are numbers as differences of 32 bits.
func deltaEncoded(numbers []int64) []byte {
	const block, mini, least = 128, 32, -1 << 31
	b := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, block), block/mini), uint64(len(numbers)))
	b = binary.AppendVarint(b, numbers[0])
	for i := 1; i < len(numbers); i++ {
		if i%block == 1 {
			b = append(binary.AppendVarint(b, least), 32, 32, 32, 32)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(numbers[i]-numbers[i-1]-least))
	}
	return append(b, make([]byte, 4*(mini-1-(len(numbers)-2)%mini))...)
}

// Equal texts of a page may have any number of bytes together: one text more is no error.
func TestManyEqualLongTexts(t *testing.T) {
	const n = 200
	text := bytes.Repeat([]byte{'a'}, longestText)
	prefixes, suffixes := slices.Repeat([]int64{longestText}, n), make([]int64, n)
	prefixes[0], suffixes[0] = 0, longestText
	p := newPrefixed(slices.Concat(deltaEncoded(prefixes), deltaEncoded(suffixes), text), n)
	if p.left != n*longestText {
		t.Errorf("%d bytes of text, want %d", p.left, n*longestText)
	}
	for i := range n {
		if got := p.next(); !bytes.Equal(got, text) {
			t.Fatalf("text %d has %d bytes", i, len(got))
		}
	}
	if p.left != 0 {
		t.Errorf("%d bytes are left", p.left)
	}
}

// A page of one list may have any number of empty words, which take no space: they are no damage.
func TestManyEmptyWords(t *testing.T) {
	const n, block = 68 << 20, 1 << 20
	zeros := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, block), 1), n)
	zeros = append(zeros, 0)
	for range n / block {
		zeros = append(zeros, 0, 0) // of differences of no bits
	}
	for encoding, b := range map[int64][]byte{encodingDeltaLengths: zeros, encodingDeltaStrings: slices.Concat(zeros, zeros)} {
		column := Column{Kind: Text, element: element{physical: physicalBytes}, levels: listLevels{kind: Text, number: 1}}
		r := &ColumnReader{file: &File{size: int64(len(b))}, column: column, rows: n}
		h := pageHeader{values: n, encoding: encoding}
		r.start(h)
		r.begun(h, b)
		var c Cells
		r.values(&c, 1000)
		if len(c.Ends) != 1000 || len(c.Bytes) != 0 {
			t.Errorf("encoding %d: %d words of %d bytes", encoding, len(c.Ends), len(c.Bytes))
		}
	}
}

// Differences of 32-bit numbers wrap around, as some writers compute them.
func TestDeltasOf32BitsWrap(t *testing.T) {
	b := binary.AppendUvarint(nil, 128)
	b = binary.AppendUvarint(b, 4)
	b = binary.AppendUvarint(b, 2)
	b = binary.AppendVarint(b, math.MaxInt32)
	b = append(binary.AppendVarint(b, 1), 0, 0, 0, 0) // widths of the miniblocks
	r := ColumnReader{column: Column{Kind: Int, element: element{physical: physicalInt32}}}
	r.page = page{mode: deltaValues, deltas: newDelta(b, 2)}
	var c Cells
	if r.values(&c, 2); !slices.Equal(c.Ints, []int64{math.MaxInt32, math.MinInt32}) {
		t.Errorf("read %v", c.Ints)
	}
}
