package parquet

import "encoding/binary"

// delta decodes numbers as differences, packed in blocks of miniblocks, some numbers at a time:
// a page of one list may have any number of them, in a few bytes.
// https://parquet.apache.org/docs/file-format/data-pages/encodings/, "Delta Encoding".
type delta struct {
	b          []byte // behind what is decoded
	miniblocks uint64 // of a block
	each       int    // numbers of a miniblock
	left       uint64 // numbers not decoded
	first      bool   // the first number is not decoded
	last       int64
	least      int64  // of the differences of the block
	widths     []byte // of the miniblocks of the block that are left
	packed     []byte // miniblock
	width, bit int    // of its differences, and where the next one starts
	ready      int    // differences of it that are left
}

// newDelta reads the head. most bounds the numbers.
func newDelta(b []byte, most int) delta {
	d := delta{b: b, first: true}
	block := d.uvarint()
	d.miniblocks, d.left = d.uvarint(), d.uvarint()
	d.last = d.zigzag()
	if block == 0 || block > 1<<20 || d.miniblocks == 0 || block%d.miniblocks != 0 || block/d.miniblocks%8 != 0 || d.left > uint64(most) {
		panic(errDamaged)
	}
	d.each = int(block / d.miniblocks)
	return d
}

func (d *delta) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		panic(errDamaged)
	}
	d.b = d.b[n:]
	return x
}

func (d *delta) zigzag() int64 {
	x := d.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// next decodes len(dst) numbers.
func (d *delta) next(dst []int64) {
	if uint64(len(dst)) > d.left {
		panic(errDamaged)
	}
	if d.first && len(dst) > 0 {
		dst[0] = d.last
		d.first, d.left, dst = false, d.left-1, dst[1:]
	}
	for len(dst) > 0 {
		if d.ready == 0 {
			d.miniblock()
		}
		n := min(d.ready, len(dst))
		last := d.last
		unpackBits(d.packed, d.bit, d.width, n, func(i int, x uint64) {
			last += d.least + int64(x)
			dst[i] = last
		})
		d.last = last
		d.bit, d.ready, d.left, dst = d.bit+n*d.width, d.ready-n, d.left-uint64(n), dst[n:]
	}
}

// miniblock begins the next miniblock.
func (d *delta) miniblock() {
	if len(d.widths) == 0 {
		d.least = d.zigzag()
		if d.miniblocks > uint64(len(d.b)) {
			panic(errDamaged)
		}
		d.widths, d.b = d.b[:d.miniblocks], d.b[d.miniblocks:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	size := d.each * d.width / 8
	if d.width > 64 || size > len(d.b) {
		panic(errDamaged)
	}
	d.packed, d.b = d.b[:size], d.b[size:]
	d.bit, d.ready = 0, int(min(uint64(d.each), d.left))
}

// deltas decodes all numbers, and returns the bytes behind them. most bounds their number.
func deltas(b []byte, most int) (numbers []int64, rest []byte) {
	const atOnce = 1 << 12 // a damaged page may state more numbers than it has
	d := newDelta(b, most)
	for d.left > 0 {
		n := int(min(d.left, atOnce))
		numbers = append(numbers, make([]int64, n)...)
		d.next(numbers[len(numbers)-n:])
	}
	return numbers, d.b
}

// deltaLengths decodes byte arrays; their lengths come first, as deltas.
func deltaLengths(b []byte, most int) (text []byte, ends []int) {
	lengths, text := deltas(b, most)
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
	p.prefixes, b = deltas(b, most)
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
