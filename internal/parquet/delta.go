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

// newDelta reads the head. most bounds the numbers. Some programs write no head if there are none.
func newDelta(b []byte, most int) delta {
	if len(b) == 0 {
		return delta{}
	}
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

// walk calls see with all numbers, some at a time, and returns the bytes behind them.
func (d delta) walk(see func(numbers []int64)) (rest []byte) {
	var room [1 << 8]int64
	for d.left > 0 {
		numbers := room[:min(d.left, uint64(len(room)))]
		d.next(numbers)
		see(numbers)
	}
	return d.b
}

// singles decodes numbers one at a time.
type singles struct {
	delta
	room  [1 << 7]int64
	at, n int // of room
}

func (s *singles) one() int64 {
	if s.at == s.n {
		s.at, s.n = 0, int(min(s.left, uint64(len(s.room))))
		if s.n == 0 {
			panic(errDamaged)
		}
		s.next(s.room[:s.n])
	}
	s.at++
	return s.room[s.at-1]
}

// prefixed decodes byte arrays whose lengths come first, as deltas, one at a time. They may share a
// prefix with the preceding one, so a page of equal long texts has many times the bytes that it is
// stored in.
type prefixed struct {
	prefixes singles
	none     bool // no prefixes
	lengths  singles
	suffixes []byte
	last     []byte
	left     int64 // bytes of the arrays that are not decoded
}

// newLengths takes byte arrays without prefixes. most bounds their number.
func newLengths(b []byte, most int) prefixed {
	p := prefixed{none: true, lengths: singles{delta: newDelta(b, most)}}
	p.suffixes = p.lengths.walk(func(lengths []int64) {
		for _, n := range lengths {
			if n < 0 || n > int64(len(b))-p.left {
				panic(errDamaged)
			}
			p.left += n
		}
	})
	if p.left > int64(len(p.suffixes)) {
		panic(errDamaged)
	}
	return p
}

func newPrefixed(b []byte, most int) prefixed {
	prefixes := newDelta(b, most)
	p := newLengths(prefixes.walk(func([]int64) {}), most)
	if prefixes.left != p.lengths.left {
		panic(errDamaged)
	}
	p.prefixes, p.none, p.left = singles{delta: prefixes}, false, 0
	length, suffixes := int64(0), p.lengths
	prefixes.walk(func(prefixes []int64) {
		for _, n := range prefixes {
			if n < 0 || n > length {
				panic(errDamaged)
			}
			length = n + suffixes.one()
			p.left += length
		}
	})
	return p
}

// next is the next array, until the next call.
func (p *prefixed) next() []byte {
	n := p.lengths.one()
	suffix := p.suffixes[:n]
	p.suffixes = p.suffixes[n:]
	if p.none {
		p.left -= n
		return suffix
	}
	p.last = append(p.last[:p.prefixes.one()], suffix...)
	p.left -= int64(len(p.last))
	return p.last
}
