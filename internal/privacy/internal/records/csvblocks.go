package records

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// csvBlockSize is how much text is read at a time: it stays in the second-level
// cache while it is encoded.
const csvBlockSize = 512 << 10

// maxLine bounds the length of one record: beyond it a quote was never closed.
const maxLine = 16 << 20

// csvBlocks cuts CSV text into blocks of whole records, so that they can be
// read one without the other. A byte order mark at the start is left out.
type csvBlocks struct {
	src     io.Reader
	size    int    // of a block, if its records are shorter; at least 3
	rest    []byte // read, but not given out yet
	started bool
	failed  error // of src, io.EOF included
}

// next returns the next block in buf, which grows when a record is longer, and
// io.EOF when there is none. Other errors come after the records of text; one
// of type *malformed counts lines from the end of text.
func (b *csvBlocks) next(buf []byte) (text, grown []byte, err error) {
	if need := max(b.size, len(b.rest)); len(buf) < need {
		buf = make([]byte, need)
	}
	n := copy(buf, b.rest)
	b.rest = b.rest[:0]
	for {
		for n < len(buf) && b.failed == nil {
			var m int
			m, b.failed = io.ReadFull(b.src, buf[n:])
			n += m
		}
		if !b.started {
			b.started = true
			n = copy(buf, bytes.TrimPrefix(buf[:n], []byte("\xef\xbb\xbf")))
		}
		if errors.Is(b.failed, io.EOF) || errors.Is(b.failed, io.ErrUnexpectedEOF) {
			if n == 0 {
				return nil, buf, io.EOF
			}
			return buf[:n], buf, nil
		}
		cut := lastRecordEnd(buf[:n])
		if cut > 0 || b.failed != nil {
			b.rest = append(b.rest, buf[cut:n]...)
			return buf[:cut], buf, b.failed
		}
		if n == len(buf) {
			if n >= maxLine {
				return nil, buf, &malformed{1, "a line is longer than 16 MiB: is a quote never closed?"}
			}
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// unread gives text back: the next block begins with it.
func (b *csvBlocks) unread(text []byte) { b.rest = slices.Concat(text, b.rest) }

// lastRecordEnd is the place behind the last line end of text that is not
// inside quotes, 0 when there is none. text starts outside.
func lastRecordEnd(text []byte) int {
	quote := []byte{'"'}
	quotes, end := bytes.Count(text, quote), len(text)
	for {
		i := bytes.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return 0
		}
		quotes -= bytes.Count(text[i:end], quote)
		if quotes%2 == 0 {
			return i + 1
		}
		end = i
	}
}
