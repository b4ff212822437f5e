package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records/tablefile"
)

// arrayBlock is the most records of an array file that one process reads in a row.
const arrayBlock = 1 << 12

// readArray adds the records of an array file, which it reads from its start.
func (enc *encoder) readArray(path string, f *os.File, e encoding.Encoding) error {
	src, a, err := tablefile.OpenArray(path, f, tablefile.FormatOf(path, e.Format))
	if err != nil {
		return err
	}
	if enc.units != nil {
		return &tablefile.FileError{File: path, Column: enc.units.name, Problem: "is not in an array of numbers", Hint: "units with ids need CSV or Parquet"}
	}
	names, labels, err := arrayNames(path, e, enc, a)
	if err != nil {
		return err
	}
	at, errs := enc.match(path, names)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	places, _ := arrayPlaces(names, e.Lists)
	for i, name := range at {
		at[i] = places[name]
	}
	enc.numberLevels()
	if enc.rows == nil {
		if err := enc.room(a.Records); err != nil {
			return err
		}
	}
	block := enc.share.block(int64(a.Records), arrayBlock)
	enc.deal(a.Records)
	enc.deal(block)
	var tags *labelReader
	if labels != "" {
		if tags, err = openLabels(labels, a.Records, e.Format); err != nil {
			return err
		}
		defer tags.close()
		for i := range at {
			at[i]-- // the label comes first
		}
	}
	record := make([]byte, a.Columns*a.Bytes)
	for i := range a.Records {
		if _, err := io.ReadFull(src, record); err != nil {
			return tablefile.ShortArray(path)
		}
		label := 0.0
		if tags != nil {
			if label, err = tags.next(); err != nil {
				return err
			}
		}
		if !enc.share.has(i / block) {
			continue
		}
		enc.arrayRecord(a, at, record, label)
		if err := enc.end(); err != nil {
			return err
		}
	}
	return nil
}

// arrayRecord encodes a record, whose columns start at the places `at`; -1 is the label's.
func (e *encoder) arrayRecord(a tablefile.Array, at []int, record []byte, label float64) {
	for i, j := range at {
		switch c := &e.columns[i]; {
		case j < 0:
			e.number(c, label)
		case c.lists:
			e.list(c, c.longest(), func(k int) float64 { return a.Number(record[(j+k)*a.Bytes:]) })
		default:
			e.number(c, a.Number(record[j*a.Bytes:]))
		}
	}
}

// arrayPlaces are the places of columns in a record of an array, and the length of a
// record: one number for a column, all tokens for a list of tokens.
func arrayPlaces(names []string, lists map[string]int) (places []int, numbers int) {
	for _, name := range names {
		places = append(places, numbers)
		numbers += max(1, lists[name])
	}
	return places, numbers
}

// longest is the most tokens that some field keeps of a list.
func (c *column) longest() int {
	n := 0
	for i := range c.fields {
		n = max(n, len(c.fields[i].Out))
	}
	return n
}

// arrayNames names the columns of a record in order: the declared ones, those of tensors
// last; or else the columns to read. If one number is missing for either, labels is the
// file beside one of images, tokens or features that has the first column.
func arrayNames(path string, e encoding.Encoding, enc *encoder, a tablefile.Array) (names []string, labels string, err error) {
	used := make(map[string]bool, len(enc.columns))
	for i := range enc.columns {
		used[enc.columns[i].name] = true
	}
	read := slices.DeleteFunc(slices.Clone(e.Header), func(name string) bool { return !used[name] })
	for i := range enc.columns {
		if c := &enc.columns[i]; c.tokens && !c.lists {
			return nil, "", &tablefile.FileError{File: path, Column: c.name, Problem: "is text, which an array of numbers has not", Hint: "tokens: 30000 in place of text: declares lists of whole numbers"}
		}
	}
	beside := labelsBeside(path)
	_, all := arrayPlaces(e.Header, e.Lists)
	for _, names := range [][]string{e.Header, read} {
		if _, numbers := arrayPlaces(names, e.Lists); a.Columns == numbers {
			return names, "", labelTwice(path, beside, names[0], e)
		}
	}
	for _, names := range [][]string{read, e.Header} {
		places, numbers := arrayPlaces(names, e.Lists)
		if beside != "" && a.Columns == numbers-1 && len(places) > 1 && places[1] == 1 {
			return names, beside, nil
		}
	}
	return nil, "", &tablefile.FileError{
		File:    path,
		Problem: fmt.Sprintf("has %d numbers in a record, but the model file declares %d", a.Columns, all),
		Hint:    "the numbers are the declared columns in order, those of tensors last, and of tokens as many as their shape; the first may stand in labels.npy beside images.npy, tokens.npy or features.npy",
	}
}

// labelTwice refuses an array that has a number of the first column, which is observed or
// not read, though a file of labels stands beside it: it may as well have a number more
// than the model file declares. `data: header:` declares that it has none.
func labelTwice(path, beside, first string, e encoding.Encoding) error {
	if beside == "" || e.Headless {
		return nil
	}
	predicted := false
	for _, f := range e.Fields {
		if f.Column == first && f.Role != encoding.Response {
			return nil
		}
		predicted = predicted || f.Role != encoding.Response
	}
	if _, err := os.Stat(beside); err != nil || !predicted {
		return nil
	}
	return &tablefile.FileError{
		File: path, Column: first,
		Problem: "would be the first number of a record, but " + filepath.Base(beside) + " beside the file has a label of each record, too",
		Hint:    "save the file without labels and without other numbers, or declare the order of all its numbers by `header:`",
	}
}

// labelsBeside is the file of labels that belongs to one of images, tokens or features, by
// the names of MNIST; "" for other names.
func labelsBeside(path string) string {
	base := filepath.Base(path)
	labels := strings.NewReplacer("images", "labels", "tokens", "labels", "features", "labels", "idx3", "idx1").Replace(base)
	if labels == base {
		return ""
	}
	return filepath.Join(filepath.Dir(path), labels)
}

// labelReader reads one number per record.
type labelReader struct {
	path string
	file *os.File
	src  io.Reader
	a    tablefile.Array
	cell []byte
}

// openLabels opens the file of n labels.
func openLabels(path string, n int, declared string) (*labelReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &tablefile.FileError{File: path, Problem: "is not there, but the model needs a label of each record", Hint: "save the labels there, in the order of the records"}
	}
	src, a, err := tablefile.OpenArray(path, f, tablefile.FormatOf(path, declared))
	if err == nil && (a.Columns != 1 || a.Records != n) {
		err = &tablefile.FileError{File: path, Problem: "does not have one label for every record"}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &labelReader{path, f, src, a, make([]byte, a.Bytes)}, nil
}

func (l *labelReader) next() (float64, error) {
	if _, err := io.ReadFull(l.src, l.cell); err != nil {
		return 0, tablefile.ShortArray(l.path)
	}
	return l.a.Number(l.cell), nil
}

func (l *labelReader) close() { l.file.Close() }
