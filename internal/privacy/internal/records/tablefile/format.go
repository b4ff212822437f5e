// Package tablefile reads the files of tables: format, compression, encoding of text,
// lines and cells of CSV, heads of arrays. It uses no declarations of columns.
package tablefile

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A format is the format of a file. It follows from its name or the model file, never
// from its content: the first bytes of a file without header are a record's.
type format struct {
	Kind    kind
	Gzipped bool
}

type kind uint8

const (
	CSV kind = iota
	Parquet
	NPY
	IDX
	CIFAR10
)

// idxName matches the names of MNIST's files: train-images-idx3-ubyte.
var idxName = regexp.MustCompile(`idx[0-9]|-ubyte$|\.idx$`)

// cifar10Name matches the names of CIFAR-10's binary files.
var cifar10Name = regexp.MustCompile(`^(data_batch_[0-9]+|test_batch)\.bin$|\.cifar10$`)

// FormatOf is the format of the file at path: the declared one, else that of the end of its
// name; CSV for other names.
func FormatOf(path, declared string) format {
	name := strings.ToLower(filepath.Base(path))
	if declared != "" {
		name = "." + declared
	}
	if cifar10Name.MatchString(name) {
		return format{CIFAR10, false}
	}
	name, gzipped := strings.CutSuffix(name, ".gz")
	switch filepath.Ext(name) {
	case ".csv", ".tsv", ".txt":
		return format{CSV, gzipped}
	case ".parquet", ".parq", ".pq":
		return format{Parquet, gzipped}
	case ".npy":
		return format{NPY, gzipped}
	}
	if idxName.MatchString(name) {
		return format{IDX, gzipped}
	}
	return format{CSV, gzipped}
}

// Magic is the length of the first bytes that show a format to OtherFormat.
const Magic = 8

// OtherFormat returns an error if a file that is read as CSV has another format. start is
// the beginning of its header line, which shows the format; nil if it shows none.
func OtherFormat(path, start string) *FileError {
	name := func(what, end string) *FileError {
		return &FileError{File: path, Problem: "starts like " + what + ", but its name does not show it",
			Hint: "end its name in ." + end + ", or under data add format: " + end}
	}
	starts := func(magic ...string) bool {
		return slices.ContainsFunc(magic, func(m string) bool { return strings.HasPrefix(start, m) })
	}
	switch {
	case starts("$FL2", "$FL3", "<sta", "\x00\x00\x00\x00"),
		slices.Contains([]string{".rds", ".rda", ".rdata"}, strings.ToLower(filepath.Ext(path))): // .rds is compressed
		return &FileError{File: path, Problem: "is a file of SPSS, Stata, SAS or R", Hint: "save it as CSV in UTF-8, or as Parquet"}
	case starts("PAR1"):
		return name("Parquet", "parquet")
	case starts(gzipMagic):
		return name("a file compressed by gzip", "csv.gz")
	case starts(npyMagic[:4]):
		return name("an npy array", "npy")
	case len(start) > 2 && starts("\x00\x00") && idxNumber(start[2]) != nil:
		return name("an idx array", "idx")
	case starts("ARROW1\x00\x00", "SQLite f"):
		return &FileError{File: path, Problem: "is a file of Arrow or SQLite", Hint: "save it as CSV in UTF-8, or as Parquet"}
	case starts("\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh91AY&"):
		return &FileError{File: path, Problem: "is compressed by zstd, xz or bzip2", Hint: "decompress it, or compress it by gzip"}
	case starts("PK\x03\x04", "\xd0\xcf\x11\xe0"): // .xlsx and .ods; .xls
		return &FileError{File: path, Problem: "is a workbook or an archive", Hint: "save its sheet as CSV in UTF-8, or its array by numpy.save"}
	}
	return nil
}
