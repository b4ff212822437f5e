package parquet

import "encoding/binary"

// deltas decodes numbers as differences, packed in blocks, and returns the bytes behind
// them: https://parquet.apache.org/docs/file-format/data-pages/encodings/, "Delta
// Encoding". most bounds their number.
func deltas(b []byte, most int, dst []int64) (numbers []int64, rest []byte) {
	uvarint := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			panic(errDamaged)
		}
		b = b[n:]
		return x
	}
	zigzag := func() int64 {
		x := uvarint()
		return int64(x>>1) ^ -int64(x&1)
	}
	block, miniblocks, total, first := uvarint(), uvarint(), uvarint(), zigzag()
	if block == 0 || block > 1<<20 || miniblocks == 0 || block%miniblocks != 0 || block/miniblocks%8 != 0 || total > uint64(most) {
		panic(errDamaged)
	}
	each := int(block / miniblocks)
	dst = dst[:0]
	if total > 0 {
		dst = append(dst, first)
	}
	for uint64(len(dst)) < total {
		least := zigzag()
		if miniblocks > uint64(len(b)) {
			panic(errDamaged)
		}
		widths := b[:miniblocks]
		b = b[miniblocks:]
		for _, width := range widths {
			left := int(total) - len(dst)
			if left == 0 {
				break
			}
			size := each * int(width) / 8
			if width > 64 || size > len(b) {
				panic(errDamaged)
			}
			last := dst[len(dst)-1]
			unpackBits(b[:size], 0, int(width), min(each, left), func(_ int, x uint64) {
				last += least + int64(x)
				dst = append(dst, last)
			})
			b = b[size:]
		}
	}
	return dst, b
}

// deltaLengths decodes byte arrays; their lengths come first, as deltas.
func deltaLengths(b []byte, most int) (text []byte, ends []int) {
	lengths, text := deltas(b, most, nil)
	at := int64(0)
	for _, n := range lengths {
		if n < 0 || n > int64(len(text))-at {
			panic(errDamaged)
		}
		at += n
		ends = append(ends, int(at))
	}
	return text, ends
}

// deltaStrings decodes byte arrays that share a prefix with the preceding one. limit bounds
// the bytes of all.
func deltaStrings(b []byte, most, limit int) (text []byte, ends []int) {
	prefixes, rest := deltas(b, most, nil)
	suffixes, suffixEnds := deltaLengths(rest, most)
	if len(prefixes) != len(suffixEnds) {
		panic(errDamaged)
	}
	last, at := 0, 0
	for i, n := range prefixes {
		length := len(text) - last
		if n < 0 || n > int64(length) || len(text)+int(n) > limit {
			panic(errDamaged)
		}
		start := len(text)
		text = append(text, text[last:last+int(n)]...)
		text = append(text, suffixes[at:suffixEnds[i]]...)
		last, at = start, suffixEnds[i]
		ends = append(ends, len(text))
	}
	return text, ends
}
