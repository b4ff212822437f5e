package parquet

import (
	"math"
	"math/bits"
	"slices"
)

// listLevels are the levels of a list's entries (Melnik et al. 2010, "Dremel", section 4).
// An entry is a number or a text, a null among them, or marks an empty or missing list. Its
// repetition level is 0 at the begin of a list.
type listLevels struct {
	kind   Kind   // of the numbers: Int, Uint, Float, Nothing or Text
	item   uint32 // definition level from which an entry belongs to the list
	number uint32 // definition level of a number; 0: the column is no list
}

// list makes c a list if the nodes of its schema have one member each, one of them is
// repeated, and the last is a number or a text: two or three levels, depending on the writer. A
// program writes whole numbers as floats if one record's list lacks a number, and writes
// lists of nothing if all are empty.
func (c *Column) list(nodes []element) {
	levels, repeated := listLevels{}, 0
	for i, e := range nodes {
		if last := i == len(nodes)-1; last != (e.children == 0) || !last && e.children != 1 {
			return
		}
		if e.repetition == 1 || e.repetition == 2 {
			levels.number++
		}
		if e.repetition == 2 {
			levels.item = levels.number
			repeated++
		}
	}
	leaf := nodes[len(nodes)-1]
	kind, name := leaf.kind()
	if repeated != 1 {
		return
	}
	if c.Type = "list of " + name; listsOf[kind] != Other {
		levels.kind = kind
		c.Kind, c.element, c.levels = listsOf[kind], leaf, levels
	}
}

// listsOf are the kinds of lists by those of their entries; Other: lists that are not read.
var listsOf = map[Kind]Kind{Int: List, Uint: List, Float: List, Nothing: Empties, Text: Words}

// Missing is an entry of a list without a whole number.
const Missing = -1

// longestList bounds the numbers of a list; it keeps the first ones.
const longestList = 1 << 20

// entries are entries of a page that are decoded and not yet in a list.
type entries struct {
	repeats, levels []uint32
	values          Cells
	at, number      int
	full            bool // the text of the list takes no more words
}

// fillLists is fill for a column of lists.
func (r *ColumnReader) fillLists(c *Cells, n, full int) {
	words := r.column.Kind == Text
	c.lists = !words
	for c.N < n && (c.N == 0 || 8*len(c.Ints)+len(c.Bytes) < full) && r.moreEntries() {
		if r.entries.repeats[r.entries.at] != 0 {
			panic(errDamaged)
		}
		r.given++
		// only a list that is itself optional can be missing, and not empty
		c.Null = append(c.Null, r.column.optional && r.entries.levels[r.entries.at] == 0)
		start := len(c.Ints) + len(c.Bytes) // one of them has none
		r.entries.full = false
		for first := true; r.moreEntries() && (first || r.entries.repeats[r.entries.at] != 0); first = false {
			if words {
				r.word(c, start)
			} else {
				r.entry(c, start)
			}
		}
		c.Ends = append(c.Ends, len(c.Ints)+len(c.Bytes))
		c.N++
	}
	if c.room = c.Null; !slices.Contains(c.Null, true) {
		c.Null = nil
	}
}

// entry adds the next entry to the list that starts at Ints[start].
func (r *ColumnReader) entry(c *Cells, start int) {
	e, level := &r.entries, r.entries.levels[r.entries.at]
	e.at++
	x := int64(Missing)
	if level == r.column.levels.number {
		switch r.column.Kind {
		case Int, Uint:
			x = e.values.Ints[e.number]
		case Float:
			if y := e.values.Floats[e.number]; y == math.Trunc(y) && math.Abs(y) < 1<<53 {
				x = int64(y)
			}
		}
		e.number++
	}
	if level >= r.column.levels.item && len(c.Ints)-start < longestList {
		c.Ints = append(c.Ints, x)
	}
}

// word adds the next entry to the text that starts at Bytes[start]. The text ends before a
// word that is too much for it.
func (r *ColumnReader) word(c *Cells, start int) {
	e, level := &r.entries, r.entries.levels[r.entries.at]
	e.at++
	if level != r.column.levels.number {
		return
	}
	text := e.values.Text(e.number)
	e.number++
	if len(c.Bytes)-start+1+len(text) > longestText {
		e.full = true
	}
	if e.full {
		return
	}
	if len(c.Bytes) > start {
		c.Bytes = append(c.Bytes, ' ')
	}
	c.Bytes = append(c.Bytes, text...)
}

// moreEntries reports whether the row groups have another entry, and decodes some.
func (r *ColumnReader) moreEntries() bool {
	e := &r.entries
	if e.at < len(e.levels) {
		return true
	}
	if r.page.rows == 0 && !r.nextPage() {
		if r.given != r.due {
			panic(errDamaged)
		}
		return false
	}
	const atOnce = 1 << 12
	m := min(r.page.rows, atOnce, r.atOnce(fullText))
	r.page.rows -= m
	e.repeats, e.levels = slices.Grow(e.repeats[:0], m)[:m], slices.Grow(e.levels[:0], m)[:m]
	r.page.repeats.next(e.repeats)
	r.page.levels.next(e.levels)
	present := 0
	for _, level := range e.levels {
		if level == r.column.levels.number {
			present++
		}
	}
	e.values.empty()
	r.values(&e.values, present)
	e.at, e.number = 0, 0
	return true
}

// width is the number of bits of a definition level.
func (c *Column) width() int {
	if c.levels.number > 0 {
		return bits.Len32(c.levels.number)
	}
	return 1
}

// leveled reports whether the pages have definition levels.
func (c *Column) leveled() bool { return c.optional || c.levels.number > 0 }
