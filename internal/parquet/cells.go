package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// Cells are the cells of one column in some rows. A null cell has any value in Ints and
// Floats, and an empty Text.
type Cells struct {
	N      int
	Null   []bool // length N; nil: none is
	Ints   []int64
	Floats []float64
	Bytes  []byte
	Ends   []int // of texts in Bytes, of lists in Ints

	lists bool
	room  []bool // for Null
}

// Text is the text of cell i.
func (c *Cells) Text(i int) []byte {
	start := 0
	if i > 0 {
		start = c.Ends[i-1]
	}
	return c.Bytes[start:c.Ends[i]]
}

// List is the list of cell i.
func (c *Cells) List(i int) []int64 {
	start := 0
	if i > 0 {
		start = c.Ends[i-1]
	}
	return c.Ints[start:c.Ends[i]]
}

func (c *Cells) empty() {
	c.lists = false
	c.N, c.Null, c.Ints, c.Floats = 0, c.room[:0], c.Ints[:0], c.Floats[:0]
	c.Bytes, c.Ends = c.Bytes[:0], c.Ends[:0]
}

// Drop leaves out the first n cells.
func (c *Cells) Drop(n int) {
	if n == c.N {
		c.empty()
		return
	}
	if c.Null != nil {
		c.Null = slices.Delete(c.Null, 0, n)
	}
	if !c.lists {
		c.Ints, c.Floats = slices.Delete(c.Ints, 0, min(n, len(c.Ints))), slices.Delete(c.Floats, 0, min(n, len(c.Floats)))
	}
	if len(c.Ends) > 0 && n > 0 {
		start := c.Ends[n-1]
		if c.lists {
			c.Ints = slices.Delete(c.Ints, 0, start)
		} else {
			c.Bytes = slices.Delete(c.Bytes, 0, start)
		}
		c.Ends = slices.Delete(c.Ends, 0, n)
		for i := range c.Ends {
			c.Ends[i] -= start
		}
	}
	c.N -= n
}

// longestText bounds a text in bytes. A longer one is empty, as it depends on its cell
// alone; a row of CSV has the same bound.
const longestText = 16 << 20

func (c *Cells) addText(text []byte) {
	if len(text) > longestText {
		text = nil
	}
	c.Bytes = append(c.Bytes, text...)
	c.Ends = append(c.Ends, len(c.Bytes))
}

// storage is the field that holds cells of a kind.
type storage uint8

const (
	ints storage = iota
	floats
	texts
)

func (k Kind) storage() storage {
	switch k {
	case Float, Decimal:
		return floats
	case Text:
		return texts
	}
	return ints
}

// width is the number of bytes of a value; 0 if values have different ones, or a wrong number.
func (e element) width() int {
	switch e.physical {
	case physicalInt32, physicalFloat:
		return 4
	case physicalInt64, physicalDouble:
		return 8
	case physicalInt96:
		return 12
	case physicalFixed:
		if e.length > 0 && e.length <= 1<<16 {
			return int(e.length)
		}
	}
	return 0
}

// plain decodes n values of the encoding PLAIN, adds them to c, and returns the rest of
// the bytes.
func (e element) plain(k Kind, b []byte, n int, c *Cells) (rest []byte) {
	if e.physical == physicalBytes {
		for range n {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				panic(errDamaged)
			}
			end := 4 + int(binary.LittleEndian.Uint32(b))
			e.bytes(k, b[4:end], c)
			b = b[end:]
		}
		return b
	}
	size := e.width()
	if size == 0 || n > len(b)/size {
		panic(errDamaged)
	}
	switch {
	case e.physical == physicalDouble:
		c.Floats = slices.Grow(c.Floats, n)
		for i := range n {
			c.Floats = append(c.Floats, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case e.physical == physicalFloat:
		c.Floats = slices.Grow(c.Floats, n)
		for i := range n {
			c.Floats = append(c.Floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
		}
	case e.physical == physicalInt32 || e.physical == physicalInt64:
		start := len(c.Ints)
		c.Ints = slices.Grow(c.Ints, n)
		for i := range n {
			if size == 4 {
				c.Ints = append(c.Ints, int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
			} else {
				c.Ints = append(c.Ints, int64(binary.LittleEndian.Uint64(b[8*i:])))
			}
		}
		e.convert(k, start, c)
	default:
		for i := range n {
			e.bytes(k, b[size*i:size*(i+1)], c)
		}
	}
	return b[n*size:]
}

// longestDecimal bounds a decimal in bytes. The digits of a longer one would take long to
// find: it is infinite.
const longestDecimal = 1 << 12

// bytes adds a value given as bytes.
func (e element) bytes(k Kind, b []byte, c *Cells) {
	switch {
	case e.uuid():
		if len(b) != 16 {
			panic(errDamaged)
		}
		c.addText(fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
	case k == Text:
		c.addText(b)
	case e.physical == physicalInt96: // nanoseconds of the day, and the Julian day
		const day, epoch = 24 * 60 * 60 * 1e9, 2440588
		c.Ints = append(c.Ints, int64(int32(binary.LittleEndian.Uint32(b[8:])))-epoch+floorDiv(int64(binary.LittleEndian.Uint64(b)), day))
	case len(b) > longestDecimal:
		sign := 1
		if b[0] >= 0x80 {
			sign = -1
		}
		c.Floats = append(c.Floats, math.Inf(sign))
	default: // decimals, in two's complement, the highest byte first
		x := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		c.Floats = append(c.Floats, decimal(x.String(), e.decimals()))
	}
}

// convert makes cells of kind k of the integers from start on.
func (e element) convert(k Kind, start int, c *Cells) {
	switch {
	case k == Decimal:
		for _, x := range c.Ints[start:] {
			c.Floats = append(c.Floats, shortDecimal(x, e.decimals()))
		}
		c.Ints = c.Ints[:start]
	case k == Uint && e.physical == physicalInt32:
		for i, x := range c.Ints[start:] {
			c.Ints[start+i] = int64(uint32(x))
		}
	case k == Day && e.perDay() > 0:
		perDay := e.perDay()
		for i, x := range c.Ints[start:] {
			c.Ints[start+i] = floorDiv(x, perDay)
		}
	}
}

// floorDiv is the largest whole number not above a/b, b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// shortDecimal is x with this number of decimal places, correctly rounded: both are
// exact where this divides.
func shortDecimal(x, places int64) float64 {
	if places >= 0 && places <= 22 && x > -1<<53 && x < 1<<53 {
		return float64(x) / math.Pow10(int(places))
	}
	return decimal(strconv.FormatInt(x, 10), places)
}

// decimal is the whole number with these digits, with this number of decimal places.
func decimal(digits string, places int64) float64 {
	x, _ := strconv.ParseFloat(digits+"e"+strconv.FormatInt(-places, 10), 64)
	return x // an infinity if it is too large
}
