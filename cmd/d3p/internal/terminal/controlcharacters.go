package terminal

import (
	"bytes"
	"io"
	"unicode"
)

// Plain writes text without control characters except tab and line feed: a name from a file
// must not control the terminal.
type Plain struct{ To io.Writer }

func (p Plain) Write(b []byte) (int, error) {
	if _, err := p.To.Write(bytes.Map(printable, b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printable is c, or a mark in place of a character that controls the terminal or the
// direction of a line.
func printable(c rune) rune {
	if unicode.IsControl(c) && c != '\n' && c != '\t' || unicode.Is(unicode.Bidi_Control, c) {
		return unicode.ReplacementChar
	}
	return c
}
