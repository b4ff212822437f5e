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

// prefixed decodes byte arrays that share a prefix with the preceding one, one at a time: a page
// of equal long texts has many times the bytes that it is stored in.
type prefixed struct {
	prefixes []int64
	suffixes []byte
	ends     []int // of the suffixes
	at       int   // arrays decoded
	last     []byte
	left     int64 // bytes of the arrays that are not decoded
}

func newPrefixed(b []byte, most int) (p prefixed) {
	p.prefixes, b = deltas(b, most, nil)
	p.suffixes, p.ends = deltaLengths(b, most)
	if len(p.prefixes) != len(p.ends) {
		panic(errDamaged)
	}
	length, start := int64(0), 0
	for i, n := range p.prefixes {
		if n < 0 || n > length {
			panic(errDamaged)
		}
		length = n + int64(p.ends[i]-start)
		start = p.ends[i]
		p.left += length
	}
	return p
}

// next is the next array, until the next call.
func (p *prefixed) next() []byte {
	start := 0
	if p.at > 0 {
		start = p.ends[p.at-1]
	}
	p.last = append(p.last[:p.prefixes[p.at]], p.suffixes[start:p.ends[p.at]]...)
	p.left -= int64(len(p.last))
	p.at++
	return p.last
}
