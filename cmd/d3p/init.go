package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/spf13/cobra"

	"d3p/internal/models/spec"
)

// maxHeader bounds the header line that is read, so that a file without a line
// end is refused rather than loaded.
const maxHeader = 1 << 20 // bytes

func newInit(a *app) *cobra.Command {
	var codebook string
	c := &cobra.Command{
		Use:   "init DATA | --from CODEBOOK",
		Short: "Write a model file skeleton from the header line alone",
		Long: `Init prints a model file for the columns of a CSV or Parquet file, to be filled
in from what is publicly known about them. It reads the names of the columns and
no row: bounds, levels and scales taken from the data would cost privacy.

With --from it fills in what a public codebook says: a CSV file with a line per
column of the data and the columns name, type, lower, upper, levels (a|b|c),
center, by, transform, unknown, source and label, all but name optional. Types may
be the codebook's own words, such as categorical, numeric or logical.`,
		Example: "  d3p init cohort.csv > cohort.yaml\n  d3p init --from codebook.csv > cohort.yaml",
		Args: func(c *cobra.Command, args []string) error {
			if codebook != "" {
				return exactly()(c, args)
			}
			return exactly("DATA")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if codebook != "" {
				return a.initFrom(codebook)
			}
			header, err := readHeader(args[0])
			if err != nil {
				return failWith(statusData, err)
			}
			text := spec.Skeleton(header)
			return a.result(map[string]any{"columns": header, "model": string(text)}, func(w io.Writer) { w.Write(text) })
		},
	}
	c.Flags().StringVar(&codebook, "from", "", "public `CODEBOOK` (CSV) to take the declarations from, instead of a data file")
	return c
}

// readHeader returns the column names of a CSV or Parquet file, and reads
// nothing else of it.
func readHeader(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	if strings.HasSuffix(path, ".parquet") {
		return parquetHeader(path, f)
	}
	line, err := bufio.NewReader(io.LimitReader(f, maxHeader)).ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, fileError(path, err)
	}
	if len(line) == maxHeader {
		return nil, fmt.Errorf("%s: no line end in the first %d bytes; is it a CSV file?", path, maxHeader)
	}
	if !utf8.ValidString(line) || strings.IndexByte(line, 0) >= 0 {
		return nil, fmt.Errorf("%s: is not text in UTF-8 (export CSV in UTF-8, or Parquet; decompress it if it is compressed)", path)
	}
	header, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(line, "\ufeff"))).Read()
	switch {
	case err == io.EOF:
		return nil, fmt.Errorf("%s: the file is empty", path)
	case err != nil:
		return nil, fmt.Errorf("%s: the header line is not CSV", path)
	}
	if wrong := wrongHeader(header); wrong != "" {
		return nil, fmt.Errorf("%s: %s", path, wrong)
	}
	return header, nil
}

// wrongHeader says why a first line does not name columns; "" when it may.
func wrongHeader(header []string) string {
	if looksLikeRecord(header) {
		return "the first line holds numbers, like a record, which a model file must not quote; it must name the columns (put their names there, or use --from)"
	}
	if len(header) == 1 && strings.ContainsAny(header[0], ";\t|") {
		return "fields must be separated by commas (export it again as CSV, or as Parquet)"
	}
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return fmt.Sprintf("columns %d and %d have the same name (rename one)", slices.Index(header, name)+1, i+1)
		}
	}
	return ""
}

// looksLikeRecord tells whether a first line has a number that is not the place of
// its column, counted from 0 or 1.
func looksLikeRecord(header []string) bool {
	for i, cell := range header {
		x, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		if err == nil && x != float64(i) && x != float64(i+1) {
			return true
		}
	}
	return false
}

func parquetHeader(path string, f *os.File) (header []string, err error) {
	r, err := file.NewParquetReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: not a readable Parquet file", path)
	}
	defer r.Close()
	root := r.MetaData().Schema.Root()
	for i := range root.NumFields() {
		header = append(header, root.Field(i).Name())
	}
	return header, nil
}

// fileError says that a file cannot be read, and why, without the name twice.
func fileError(path string, err error) error {
	if strings.HasPrefix(err.Error(), path+":") {
		return err
	}
	var inner *os.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
