package terminal

import (
	"bytes"
	"io"
	"unicode"
)

// Plain writes text without control characters but tab and line feed: a name that
// a file brings along must not steer the terminal.
type Plain struct{ To io.Writer }

func (p Plain) Write(b []byte) (int, error) {
	if _, err := p.To.Write(bytes.Map(printable, b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printable is c, or a mark in the place of what steers a terminal or the direction
// of a line.
func printable(c rune) rune {
	if unicode.IsControl(c) && c != '\n' && c != '\t' || unicode.Is(unicode.Bidi_Control, c) {
		return unicode.ReplacementChar
	}
	return c
}
