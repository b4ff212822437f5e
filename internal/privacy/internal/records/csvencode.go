package records

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
)

// csvLayout says which columns of the file are read.
type csvLayout struct {
	columns []int  // by column of the file: that of the encoder, or -1
	numbers []bool // likewise: a cell that is a number has its value
	id      int    // the column of ids, or -1
}

func newCSVLayout(width int, at []int, enc *encoder) csvLayout {
	l := csvLayout{columns: make([]int, width), numbers: make([]bool, width), id: -1}
	for j := range l.columns {
		l.columns[j] = -1
	}
	for k := range enc.columns {
		l.columns[at[k]] = k
		l.numbers[at[k]] = enc.numbersAsTheyAre(&enc.columns[k])
	}
	if enc.units != nil {
		l.id = at[len(enc.columns)]
	}
	return l
}

// A csvBlock is a block of text on its way into the table: read, encoded by
// itself, and taken over in the order of the file.
type csvBlock struct {
	layout  *csvLayout
	buf     []byte
	text    []byte
	lines   int // line ends in text, as far as it was read
	err     error
	enc     *encoder // into rows of its own
	ids     []byte   // of the rows, one after the other
	idEnds  []int
	encoded chan struct{}
}

// encodeCSV encodes the blocks on all processors; lines is the number of line
// ends before the first. The table, and the error, are those of reading line by
// line.
func encodeCSV(blocks *csvBlocks, lines int, layout csvLayout, enc *encoder) error {
	workers := runtime.GOMAXPROCS(0)
	inFlight := workers + 2
	free, work, inOrder := make(chan *csvBlock, inFlight), make(chan *csvBlock), make(chan *csvBlock, inFlight)
	for range inFlight {
		free <- &csvBlock{layout: &layout, enc: enc.beside(), encoded: make(chan struct{}, 1)}
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(inOrder)
		defer close(work)
		for {
			var b *csvBlock
			select {
			case b = <-free:
			case <-stop:
				return
			}
			b.text, b.buf, b.err = blocks.next(b.buf)
			end := b.err != nil
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
	}()
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
		if err := enc.take(b); err != nil {
			return err
		}
		if errors.Is(b.err, io.EOF) {
			return nil
		}
		var bad *malformed
		if errors.As(b.err, &bad) {
			bad.line += lines
		}
		if b.err != nil {
			return b.err
		}
		lines += b.lines
		free <- b
	}
	return nil
}

// encode encodes the text; its first mistake comes before that of the reader.
func (b *csvBlock) encode() {
	b.lines, b.ids, b.idEnds = 0, b.ids[:0], b.idEnds[:0]
	b.enc.rows.empty()
	encode := b.encodePlain
	if bytes.IndexByte(b.text, '"') >= 0 {
		encode = b.encodeQuoted
	}
	err := encode()
	var bad *malformed
	if err == nil && errors.As(b.err, &bad) {
		bad.line += b.lines
	}
	if err != nil {
		b.err = err
	}
}

// encodeQuoted encodes text in which some field is quoted.
func (b *csvBlock) encodeQuoted() error {
	r := csvText{rest: b.text, width: len(b.layout.columns)}
	for {
		cells, err := r.read()
		b.lines = r.lines
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for j, cell := range cells {
			b.cell(j, cell)
		}
		b.end()
	}
}

// encodePlain encodes text without quotes, in one pass over it.
func (b *csvBlock) encodePlain() error {
	text, l := b.text, b.layout
	for at := 0; at < len(text); at++ {
		if lineEnds(text, at) { // a blank line
			at = skipReturn(text, at)
			b.lines++
			continue
		}
		for j := range l.columns {
			if j > 0 {
				if at == len(text) || text[at] != ',' {
					return raggedLine(b.lines+1, len(l.columns))
				}
				at++
			}
			if l.numbers[j] && l.id != j {
				if x, end := scanNumber(text, at); end > 0 && (end == len(text) || text[end] == ',' || lineEnds(text, end)) {
					b.enc.value(&b.enc.columns[l.columns[j]], x, undeclared, false)
					at = end
					continue
				}
			}
			end := at
			for end < len(text) && text[end] != ',' && !lineEnds(text, end) {
				end++
			}
			b.cell(j, text[at:end])
			at = end
		}
		if at < len(text) && text[at] == ',' {
			return raggedLine(b.lines+1, len(l.columns))
		}
		at = skipReturn(text, at)
		b.lines++
		b.end()
	}
	return nil
}

// lineEnds says whether a line of text ends at i < len(text).
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
		b.ids = append(b.ids, b.enc.idOf(cell)...)
	}
}

// end stores a row.
func (b *csvBlock) end() {
	if b.layout.id >= 0 {
		b.idEnds = append(b.idEnds, len(b.ids))
	}
	_ = b.enc.end() // which only a limit can refuse, and rows of a block have none
}

// beside is an encoder by the same rules for rows of its own, each of them a
// record.
func (e *encoder) beside() *encoder {
	other := *e
	other.units, other.limit, other.row, other.columns = nil, 0, make([]float64, len(e.row)), slices.Clone(e.columns)
	k, stride := len(e.row), len(e.row)
	if e.units == nil {
		stride = e.rows.Stride
	}
	other.rows = newRows(e.rows.Precision(), 0, k, stride)
	return &other
}

// take adds the rows of a block to the table.
func (e *encoder) take(b *csvBlock) error {
	for i := range e.columns {
		from := &b.enc.columns[i].check
		e.columns[i].check.add(*from)
		*from = ColumnCheck{}
	}
	rows := b.enc.rows
	if e.units == nil {
		if e.limit > 0 && e.rows.N+rows.N > e.limit {
			return errFull
		}
		e.rows.append(rows)
		return nil
	}
	start := 0
	for i, end := range b.idEnds {
		rows.Row(i, e.row)
		e.valid, e.units.id = rows.Valid[i], append(e.units.id[:0], b.ids[start:end]...)
		start = end
		if err := e.end(); err != nil {
			return err
		}
	}
	return nil
}
