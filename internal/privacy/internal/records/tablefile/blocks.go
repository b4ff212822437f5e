package tablefile

import (
	"bytes"
	"errors"
	"io"
)

// BlockSize is the size of the text that is read at a time: it stays in the second-level
// cache while it is encoded.
const BlockSize = 512 << 10

// Blocks cuts CSV text into blocks of whole rows, so that they can be read one
// without the other.
type Blocks struct {
	Src    io.Reader
	Size   int    // of a block, if its rows are shorter; at least 3
	Rows   Lines  // which text is a row
	rest   []byte // read, but not given out yet
	failed error  // of src, io.EOF included
}

// Header returns the first line that may have names and the number of line ends before and
// after it; io.EOF if there is none. It reads nothing after it.
func (b *Blocks) Header() (line []byte, lines int, err error) {
	for {
		end := bytes.IndexByte(b.rest, '\n')
		if end < 0 && b.failed == nil && len(b.rest) <= MaxRow {
			b.fill(2*len(b.rest) + b.Size)
			continue
		}
		if end < 0 && b.failed != nil && !errors.Is(b.failed, io.EOF) {
			return nil, lines, b.failed
		}
		if len(b.rest) == 0 {
			return nil, lines, io.EOF
		}
		line, next := LineOf(b.rest)
		b.rest = b.rest[next:]
		if end >= 0 {
			lines++
		}
		if line = bytes.TrimPrefix(line, []byte(MarkUTF8)); !NoNames(line) {
			return line, lines, nil
		}
	}
}

// fill reads until n bytes are there or the source ends.
func (b *Blocks) fill(n int) {
	have := len(b.rest)
	b.rest = append(b.rest, make([]byte, max(0, n-have))...)
	b.rest = b.rest[:have+b.read(b.rest[have:])]
}

// read reads as much as p takes, unless the source ends.
func (b *Blocks) read(p []byte) (n int) {
	for n < len(p) && b.failed == nil {
		var m int
		m, b.failed = b.Src.Read(p[n:])
		n += m
	}
	return n
}

// Next returns the next block in buf, which grows for a longer row, and io.EOF at the
// end. Another error, of the source, comes after the rows of text.
//
// Where a block ends depends on the text and Size alone, not on the room in buf: processes
// that use other buffers deal out the same blocks.
func (b *Blocks) Next(buf []byte) (text, grown []byte, err error) {
	need := max(b.Size, len(b.rest))
	if cap(buf) < need {
		buf = make([]byte, need)
	}
	buf = buf[:need]
	n := copy(buf, b.rest)
	b.rest = b.rest[:0]
	for {
		n += b.read(buf[n:])
		if errors.Is(b.failed, io.EOF) {
			if n == 0 {
				return nil, buf, io.EOF
			}
			return buf[:n], buf, nil
		}
		cut := b.lastRowEnd(buf[:n])
		if cut > 0 || b.failed != nil {
			b.rest = append(b.rest, buf[cut:n]...)
			return buf[:cut], buf, b.failed
		}
		if n > MaxRow+len("\r") && bytes.IndexByte(buf[:n], '\n') < 0 {
			n = b.skipLine(buf)
			continue
		}
		if n == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// skipLine reads to the end of a line that is too long. It puts a malformed line and the
// text after it into buf.
func (b *Blocks) skipLine(buf []byte) (n int) {
	malformed := copy(buf, "\"\n")
	for b.failed == nil {
		n = b.read(buf[malformed:])
		if end := bytes.IndexByte(buf[malformed:malformed+n], '\n'); end >= 0 {
			return malformed + copy(buf[malformed:], buf[malformed+end+1:malformed+n])
		}
	}
	return malformed
}

// lastRowEnd is the place behind the last row that surely ends in text, 0 without one.
func (b *Blocks) lastRowEnd(text []byte) int {
	quote := []byte{'"'}
	if b.Rows.Quotes != "" || bytes.IndexByte(text, '"') < 0 {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '\n') + 1
		if end == 0 {
			return at
		}
		if bytes.Count(text[at:at+end], quote)%2 != 0 { // otherwise the row is this line
			var sure bool
			if end, _, sure = b.Rows.Row(text[at:], false); !sure {
				return at
			}
		}
		at += end
	}
}
