package main

import (
	"bytes"
	"testing"
)

func TestColumns(t *testing.T) {
	var b bytes.Buffer
	c := columns{w: &b, right: []int{1}}
	c.line(cells{"name", "n", "note"})
	c.line(cells{"b[年齢]", 12, "two\nlines"})
	c.line(cells{"é", -1.5, ""})
	c.line(cells{"last"})
	c.print()
	want := "" +
		"name        n  note\n" +
		"b[年齢]    12  two\n" +
		"               lines\n" +
		"é        -1.5\n" +
		"last\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
