// Package terminal writes for people: columns, progress, and names without control
// characters.
package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// widthOfFiles is the width of lines for a file or a pipe.
const widthOfFiles = 100

// Width is the number of letters that a line of w has room for.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return widthOfFiles
}

// Cells is a line of columns.
type Cells []any

// Columns are lines with aligned cells, two spaces apart.
type Columns struct {
	W     io.Writer
	Right []int // columns, from 0, that are aligned at their right ends
	lines [][]string
}

// Line adds a line. A cell may have several lines.
func (c *Columns) Line(line Cells) {
	parts := make([][]string, len(line))
	height := 1
	for i, cell := range line {
		parts[i] = strings.Split(fmt.Sprint(cell), "\n")
		height = max(height, len(parts[i]))
	}
	for k := range height {
		text := make([]string, len(line))
		for i, p := range parts {
			if k < len(p) {
				text[i] = p[k]
			}
		}
		c.lines = append(c.lines, text)
	}
}

// Print writes the lines, without spaces at their ends.
func (c *Columns) Print() {
	var wide []int
	for _, line := range c.lines {
		for i, cell := range line {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], screenWidth(cell))
		}
	}
	for _, line := range c.lines {
		var b strings.Builder
		for i, cell := range line {
			room := strings.Repeat(" ", wide[i]-screenWidth(cell))
			if slices.Contains(c.Right, i) {
				cell, room = room+cell, ""
			}
			b.WriteString(cell + room + "  ")
		}
		fmt.Fprintln(c.W, strings.TrimRight(b.String(), " "))
	}
}

// screenWidth is the number of terminal columns that a text takes: two for wide letters.
func screenWidth(s string) (n int) {
	for _, r := range s {
		n++
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}
