package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"d3p/internal/atomicfile"
	"d3p/internal/parquet"
	"d3p/internal/privacy"
)

// maxHeader bounds the header line that is read, so that a file without a line
// end is refused rather than loaded.
const maxHeader = 1 << 20 // bytes

// readHeader returns the column names of a CSV or Parquet file, - for standard
// input, and what separates the fields of a CSV file, and reads nothing else of it.
func readHeader(path, encoding string) (header []string, separator byte, err error) {
	f, err := os.Open(orStandardInput(path))
	if err != nil {
		return nil, 0, atomicfile.Named(path, err)
	}
	defer f.Close()
	if strings.HasSuffix(path, ".parquet") {
		header, err = parquetHeader(path, f)
		return header, 0, err
	}
	line, err := firstLine(path, f, encoding)
	if err != nil {
		return nil, 0, atomicfile.Named(path, err)
	}
	separator = privacy.Separator([]byte(line))
	r := csv.NewReader(strings.NewReader(line))
	r.Comma = rune(separator)
	switch header, err = r.Read(); {
	case err == io.EOF:
		return nil, 0, fmt.Errorf("%s: the file is empty", path)
	case err != nil:
		return nil, 0, fmt.Errorf("%s: the header line is not CSV", path)
	}
	if wrong := wrongHeader(header); wrong != "" {
		return nil, 0, fmt.Errorf("%s: %s", path, wrong)
	}
	return header, separator, nil
}

// orStandardInput is the file that a path names, where - is standard input.
func orStandardInput(path string) string {
	if path == "-" {
		return "/dev/stdin"
	}
	return path
}

// firstLine reads the first line of a CSV file, in UTF-8, without a byte order mark.
func firstLine(path string, f io.Reader, encoding string) (string, error) {
	src := bufio.NewReader(f)
	if start, _ := src.Peek(4); string(start) == "PK\x03\x04" {
		return "", errors.New("is a workbook or an archive (save its sheet as CSV in UTF-8)")
	}
	text, err := privacy.Text(path, src, encoding)
	if err != nil {
		return "", err
	}
	line, err := bufio.NewReader(io.LimitReader(text, maxHeader)).ReadString('\n')
	switch {
	case err != nil && err != io.EOF:
		return "", err
	case len(line) == maxHeader:
		return "", fmt.Errorf("no line end in the first %d bytes; is it a CSV file?", maxHeader)
	case !utf8.ValidString(line) || strings.IndexByte(line, 0) >= 0:
		return "", errors.New("is not text in UTF-8 (--encoding windows-1252 is what Excel writes in Western Europe; or export CSV in UTF-8, or Parquet)")
	}
	return strings.TrimPrefix(line, "\ufeff"), nil
}

// wrongHeader says why a first line does not name columns; "" when it may.
func wrongHeader(header []string) string {
	if looksLikeRecord(header) {
		return "the first line holds numbers, like a record, which a model file must not quote; it must name the columns (put their names there; or use --from, and name all columns of the file under data: header: [...])"
	}
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return fmt.Sprintf("columns %d and %d have the same name (rename one)", slices.Index(header, name)+1, i+1)
		}
	}
	return ""
}

// looksLikeRecord tells whether a first line has a number, a date or a time, in
// whatever way it is written, that is not the place of its column, counted from 0
// or 1.
func looksLikeRecord(header []string) bool {
	for i, cell := range header {
		cell = strings.TrimSpace(cell)
		if place := cell == strconv.Itoa(i) || cell == strconv.Itoa(i+1); !place && valueOnly.MatchString(cell) {
			return true
		}
	}
	return false
}

// valueOnly is what starts as a number does and has no letters but those of
// exponents and of ISO times.
var valueOnly = regexp.MustCompile(`^[-+.,]?[0-9][-+.,:/0-9eETZ ]*$`)

func parquetHeader(path string, f *os.File) (header []string, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.Open(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: not a readable Parquet file", path)
	}
	for _, c := range file.Columns() {
		header = append(header, c.Name)
	}
	return header, nil
}
