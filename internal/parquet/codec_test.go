package parquet

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// packed is a block of LZ4.
func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	block := make([]byte, lz4.CompressBlockBound(len(text)))
	n, err := new(lz4.Compressor).CompressBlock(text, block)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return block[:n]
}

// LZ4 pages are one block, or under the older codec blocks after their lengths, or one.
func TestLZ4(t *testing.T) {
	text := bytes.Repeat([]byte("levels of a category, "), 300)
	framed := func(parts ...[]byte) (all []byte) {
		for _, part := range parts {
			block := packed(t, part)
			all = binary.BigEndian.AppendUint32(all, uint32(len(part)))
			all = binary.BigEndian.AppendUint32(all, uint32(len(block)))
			all = append(all, block...)
		}
		return all
	}
	for name, c := range map[string]struct {
		codec int64
		src   []byte
	}{
		"raw":        {7, packed(t, text)},
		"one frame":  {5, framed(text)},
		"two frames": {5, framed(text[:1000], text[1000:])},
		"no frame":   {5, packed(t, text)},
	} {
		unpack := func(src []byte, n int) (got []byte, err error) {
			defer recovered(&err)
			return new(decompressor).decompress(c.codec, src, nil, n), nil
		}
		if got, err := unpack(c.src, len(text)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(text), err)
		}
		for cut := range c.src {
			if got, err := unpack(c.src[:cut], len(text)); err == nil && len(got) != len(text) {
				t.Errorf("%s: %d bytes of %d are read as %d", name, cut, len(c.src), len(got))
			}
		}
		for _, n := range []int{len(text) - 1, len(text) + 1} {
			if _, err := unpack(c.src, n); err == nil {
				t.Errorf("%s: %d bytes are read as %d", name, len(text), n)
			}
		}
	}
}

// DuckDB: copy (select i%97 as a, 'w'||(i%13) as b from range(3000) t(i)) to
// 'duckdb-lz4.parquet' (format parquet, compression lz4).
func TestReadsLZ4(t *testing.T) {
	file, err := os.ReadFile("testdata/duckdb-lz4.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Reader(0)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []int64
	for c := new(Cells); len(got) == 0 || c.N > 0; got = append(got, c.Ints[:c.N]...) {
		if err := r.Read(c, 700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(3000) {
		want = append(want, i%97)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A page of version 2 has its levels beside its values. If all cells are missing, some programs,
// such as Spark, write no bytes for the values: https://github.com/apache/parquet-java/issues/3122.
// One record decides whether all are missing, so this is no error.
func TestPagesOfMissingCells(t *testing.T) {
	float, whole, text, truth := Column{Kind: Float}, Column{Kind: Int}, Column{Kind: Text}, Column{Kind: Bool}
	float.element.physical, whole.element.physical = physicalDouble, physicalInt64
	text.element.physical, truth.element.physical = physicalBytes, physicalBool
	for encoding, columns := range map[int64][]Column{
		encodingPlain:        {float, whole, text, truth},
		encodingDictionary:   {float, whole, text},
		encodingSplit:        {float, whole},
		encodingRLE:          {truth},
		encodingDelta:        {whole},
		encodingDeltaLengths: {text},
		encodingDeltaStrings: {text},
	} {
		for _, column := range columns {
			column.optional = true
			for _, codec := range []int64{0, 1, 2, 4, 5, 6, 7} {
				r := &ColumnReader{file: &File{}, column: column, codec: codec, rows: 3, all: 3, scratch: new(scratch)}
				read := func() (err error) {
					defer recovered(&err)
					levels := []byte{3 << 1, 0} // three times 0
					r.dataPage2(pageHeader{values: 3, size: 2, compressed: 2, levelBytes: 2, encoding: encoding}, levels)
					return nil
				}
				var c Cells
				if err := read(); err != nil {
					t.Errorf("encoding %d, codec %d: %v", encoding, codec, err)
				} else if err := r.Fill(&c, 3); err != nil || !slices.Equal(c.Null, []bool{true, true, true}) {
					t.Errorf("encoding %d, codec %d: %v, missing %v", encoding, codec, err, c.Null)
				}
			}
		}
	}
}
