package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"d3p/internal/models/simulate"
)

// writeNPY writes a table as one array of numbers, record by record, in the form that NumPy
// and d3p read: numpy.lib.format, version 1.0. A record has the shape of the table, else
// its columns are one dim. The numbers are bytes if all are whole and from 0 to 255, else
// float64. A level whose name is a number is that number. An array cannot hold names or
// o.Privacy: with o.Privacy writeNPY writes nothing and returns an error.
func writeNPY(w io.Writer, t simulate.Table, o Options) error {
	if o.Privacy != "" {
		return errors.New("an array has no place to say " + o.Privacy + "; write .csv or .parquet")
	}
	values, err := numbers(t)
	if err != nil {
		return err
	}
	descr := "<f8"
	if bytesOnly(values) {
		descr = "|u1"
	}
	shape := t.Shape
	if len(shape) == 0 {
		shape = []int{len(t.Columns)}
	}
	if _, err := w.Write(npyHead(descr, rows(t), shape)); err != nil {
		return err
	}
	record := make([]byte, 0, 8*len(values))
	for b := range rows(t) {
		record = record[:0]
		for _, column := range values {
			if descr == "|u1" {
				record = append(record, byte(column[b]))
			} else {
				record = binary.LittleEndian.AppendUint64(record, math.Float64bits(column[b]))
			}
		}
		if _, err := w.Write(record); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns the columns; a level is the number that its name spells.
func numbers(t simulate.Table) ([][]float64, error) {
	values := make([][]float64, len(t.Columns))
	for j, c := range t.Columns {
		values[j] = t.Values[j]
		if c.Numeric() {
			continue
		}
		levels := make([]float64, 0, len(c.Levels))
		for _, name := range c.LevelNames() {
			x, err := strconv.ParseFloat(name, 64)
			if err != nil {
				return nil, fmt.Errorf("level %s of %s is no number, and an array holds only numbers; write .csv or .parquet", name, c.Name.V)
			}
			levels = append(levels, x)
		}
		values[j] = make([]float64, len(t.Values[j]))
		for b, code := range t.Values[j] {
			values[j][b] = math.NaN()
			if code >= 0 {
				values[j][b] = levels[int(code)]
			}
		}
	}
	return values, nil
}

// bytesOnly reports whether every number is whole and from 0 to 255.
func bytesOnly(values [][]float64) bool {
	for _, column := range values {
		for _, x := range column {
			if !(x >= 0 && x <= 255 && x == math.Floor(x)) {
				return false
			}
		}
	}
	return true
}

// npyHead is the head of n records of a shape: magic, version, length, and a Python dict,
// padded so that the numbers begin at a multiple of 64.
func npyHead(descr string, n int, shape []int) []byte {
	dims := strconv.Itoa(n)
	for _, d := range shape {
		dims += ", " + strconv.Itoa(d)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims)
	const before = 10
	dict += strings.Repeat(" ", 63-(before+len(dict))%64) + "\n"
	head := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), byte(len(dict)>>8))
	return append(head, dict...)
}
