package terminal

import (
	"bytes"
	"io"
)

// Head passes the first lines of a text on to To, and counts the others.
type Head struct {
	To    io.Writer
	Lines int // to pass on
	Left  int // lines that were not passed on
}

// Write implements io.Writer.
func (h *Head) Write(b []byte) (int, error) {
	rest := b
	for h.Lines > 0 && len(rest) > 0 {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
			h.Lines--
		}
		if _, err := h.To.Write(line); err != nil {
			return len(b) - len(rest), err
		}
		rest = rest[len(line):]
	}
	h.Left += bytes.Count(rest, []byte("\n"))
	return len(b), nil
}
