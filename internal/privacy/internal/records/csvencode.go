package records

import (
	"bytes"
	"errors"
	"io"
	"runtime"

	"d3p/internal/models/spec"
	"d3p/internal/privacy/internal/records/tablefile"
)

// csvLayout is the columns of the file that are read.
type csvLayout struct {
	separator byte
	quotes    string
	columns   []int    // by column of the file: the encoder's column, or -1
	numbers   []bool   // by column: a cell that is a number has its value
	direct    []*field // by column: its only field, which only scales the number; nil for other columns
	id        int      // the column of ids, or -1
}

func newCSVLayout(rows tablefile.Lines, at []int, enc *encoder) csvLayout {
	width := rows.Width
	l := csvLayout{separator: rows.Separator, quotes: rows.Quotes, columns: make([]int, width), numbers: make([]bool, width), direct: make([]*field, width), id: -1}
	for j := range l.columns {
		l.columns[j] = -1
	}
	for k := range enc.columns {
		if at[k] < 0 {
			continue
		}
		l.columns[at[k]] = k
		c := &enc.columns[k]
		l.numbers[at[k]] = enc.numbersAsTheyAre(c) && !enc.notation.decimalComma
		if l.numbers[at[k]] && len(c.fields) == 1 && c.fields[0].linear() {
			l.direct[at[k]] = &c.fields[0]
		}
	}
	if enc.units != nil {
		l.id = at[len(enc.columns)]
	}
	return l
}

// A csvBlock is a block of text on its way into the table: read, encoded separately, and
// added in the order of the file.
type csvBlock struct {
	layout  *csvLayout
	buf     []byte
	text    []byte
	lines   int // line ends in text, and in its skipped part
	skipped int
	err     error
	encoded chan struct{}
	quoted  []byte   // room
	cells   [][]byte // room

	malformed MalformedCheck // lines counted from the start of text
	rowBuffer
}

// encodeCSV encodes the blocks on all processors; lines is the number of line
// ends before the first. The table is that of reading row by row.
func encodeCSV(blocks *tablefile.Blocks, lines int, layout csvLayout, enc *encoder) error {
	workers := runtime.GOMAXPROCS(0)
	inFlight := workers + 2
	free, work, inOrder := make(chan *csvBlock, inFlight), make(chan *csvBlock), make(chan *csvBlock, inFlight)
	for range inFlight {
		free <- &csvBlock{layout: &layout, encoded: make(chan struct{}, 1), rowBuffer: enc.newRowBuffer()}
	}
	stop := make(chan struct{})
	defer close(stop)
	go feedBlocks(blocks, enc, free, work, inOrder, stop)
	for range workers {
		go func() {
			for b := range work {
				b.encode()
				b.encoded <- struct{}{}
			}
		}()
	}
	for b := range inOrder {
		<-b.encoded
		enc.malformed.add(b.malformed, lines)
		b.before = lines
		if err := enc.take(&b.rowBuffer); err != nil {
			return err
		}
		if errors.Is(b.err, io.EOF) {
			return nil
		}
		if b.err != nil {
			return b.err
		}
		lines += b.lines
		free <- b
	}
	return nil
}

// feedBlocks reads the blocks of a file into free ones, for the workers and in the order of
// the file, until the file ends or stop is closed.
func feedBlocks(blocks *tablefile.Blocks, enc *encoder, free <-chan *csvBlock, work, inOrder chan<- *csvBlock, stop <-chan struct{}) {
	defer close(inOrder)
	defer close(work)
	for block := 0; ; {
		var b *csvBlock
		select {
		case b = <-free:
		case <-stop:
			return
		}
		b.text, b.buf, b.err = blocks.Next(b.buf)
		end := b.err != nil
		b.skipped = 0
		enc.deal(len(b.text))
		if enc.units == nil && !enc.share.has(block) {
			b.skipped, b.text = bytes.Count(b.text, []byte{'\n'}), nil
		}
		block++
		inOrder <- b
		select {
		case work <- b:
		case <-stop:
			return
		}
		if end {
			return
		}
	}
}

// encode encodes the text.
func (b *csvBlock) encode() {
	b.lines, b.malformed = b.skipped, MalformedCheck{}
	b.empty()
	if b.layout.quotes != spec.NoQuotes && bytes.IndexByte(b.text, '"') >= 0 {
		b.encodeQuoted()
	} else {
		b.encodePlain()
	}
}

// encodeQuoted encodes text with quoted fields.
func (b *csvBlock) encodeQuoted() {
	r := tablefile.Lines{Separator: b.layout.separator, Width: len(b.layout.columns), Quotes: b.layout.quotes, Quoted: b.quoted, Cells: b.cells}
	for text := b.text; len(text) > 0; {
		end, problem, _ := r.Row(text, true)
		b.enc.line = b.lines + 1
		switch {
		case problem != "":
			b.badRow(problem)
		case len(r.Cells) > 0:
			for j, cell := range r.Cells {
				b.cell(j, cell)
			}
			b.end()
		}
		b.lines += bytes.Count(text[:end], []byte{'\n'})
		text = text[end:]
	}
	b.quoted, b.cells = r.Quoted, r.Cells
}

// encodePlain encodes text without quotes, in one pass over it.
func (b *csvBlock) encodePlain() {
	text, l, separator := b.text, b.layout, b.layout.separator
	for at := 0; at < len(text); at++ {
		start := at
		if text[at] == tablefile.MarkUTF8[0] && bytes.HasPrefix(text[at:], []byte(tablefile.MarkUTF8)) {
			at += len(tablefile.MarkUTF8)
		}
		if at == len(text) || lineEnds(text, at) { // a blank line
			at = skipReturn(text, at)
			b.lines++
			continue
		}
		sound := true
		b.enc.line = b.lines + 1
		for j := range l.columns {
			if j > 0 {
				if at == len(text) || text[at] != separator {
					sound = false
					break
				}
				at++
			}
			if l.numbers[j] && l.id != j {
				if x, end := scanNumber(text, at); end > 0 && (end == len(text) || text[end] == separator || lineEnds(text, end)) {
					if f := l.direct[j]; f == nil || !b.enc.direct(f, x) {
						b.enc.value(&b.enc.columns[l.columns[j]], x, undeclared, false)
					}
					at = end
					continue
				}
			}
			end := at
			for end < len(text) && text[end] != separator && !lineEnds(text, end) {
				end++
			}
			b.cell(j, text[at:end])
			at = end
		}
		if !sound || at < len(text) && text[at] == separator || at-start > tablefile.MaxRow {
			line, _ := tablefile.LineOf(text[start:])
			at = start + len(line)
			if problem := tablefile.Ragged(len(l.columns)); len(line) > tablefile.MaxRow {
				b.badRow(tablefile.LongRow)
			} else {
				b.badRow(problem)
			}
		} else {
			b.end()
		}
		at = skipReturn(text, at)
		b.lines++
	}
}

// end stores the current row.
func (b *csvBlock) end() {
	b.enc.partitionCells()
	b.rowBuffer.end()
}

// badRow takes a malformed row in, as one that is rejected.
func (b *csvBlock) badRow(problem tablefile.Malformed) {
	b.enc.reject()
	b.enc.sound = false
	b.ids = b.ids[:b.idStart()]
	b.rowBuffer.end()
	if b.malformed.Rows++; b.malformed.Rows == 1 {
		b.malformed.Line, b.malformed.Problem = b.lines+1, string(problem)
	}
}

// lineEnds reports whether a line of text ends at i < len(text).
func lineEnds(text []byte, i int) bool {
	return text[i] == '\n' || text[i] == '\r' && (i+1 == len(text) || text[i+1] == '\n')
}

// skipReturn skips the \r of a line end.
func skipReturn(text []byte, i int) int {
	if i < len(text) && text[i] == '\r' {
		i++
	}
	return i
}

// cell encodes a cell of column j of the file.
func (b *csvBlock) cell(j int, cell []byte) {
	if k := b.layout.columns[j]; k >= 0 {
		b.enc.text(&b.enc.columns[k], cell)
	}
	if b.layout.id == j {
		b.identify(cell)
	}
}
