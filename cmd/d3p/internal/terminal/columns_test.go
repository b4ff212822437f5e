package terminal

import (
	"bytes"
	"testing"
)

func TestColumns(t *testing.T) {
	var b bytes.Buffer
	c := Columns{W: &b, Right: []int{1}}
	c.Line(Cells{"name", "n", "note"})
	c.Line(Cells{"b[年齢]", 12, "two\nlines"})
	c.Line(Cells{"é", -1.5, ""})
	c.Line(Cells{"last"})
	c.Print()
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
