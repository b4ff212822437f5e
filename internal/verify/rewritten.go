package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"d3p/internal/outputs"
	"d3p/internal/release"

	"github.com/apache/arrow/go/v15/parquet/file"
)

// Rewritten compares a file of a release with f, written again from the rest of the
// release. Another build of d3p may use other words, but the numbers are the same up to
// the last digits.
func Rewritten(f release.File, written []byte, sameBuild bool) (ok bool, detail string) {
	var again bytes.Buffer
	if err := f.Write(&again); err != nil {
		return false, err.Error()
	}
	if bytes.Equal(again.Bytes(), written) {
		return true, "written again, it is the same"
	}
	if sameBuild && !isArray(f.Name) { // densities lose last bits where parameters are read back
		return false, "written again, it is another (d3p report and d3p draws write it again)"
	}
	numbers, names, err := numbersOf(f.Name, again.Bytes())
	if err != nil {
		return false, err.Error()
	}
	had, hadNames, err := numbersOf(f.Name, written)
	switch {
	case err != nil:
		return false, "not readable: " + err.Error()
	case sameNumbers(numbers, had) && names == hadNames && sameBuild:
		return true, "written again, it is the same up to last bits"
	case sameNumbers(numbers, had) && names == hadNames:
		return true, "written again, its numbers are the same; another build of d3p wrote it, whose words were not compared"
	case sameBuild:
		return false, "written again, it is another (d3p draws writes it again)"
	}
	return false, "written again, its numbers or names are others (another build of d3p wrote it; verify it with that build)"
}

// isArray reports whether a file is an array of Zarr.
func isArray(name string) bool {
	return strings.HasPrefix(name, outputs.ZarrRoot+"/") && !strings.HasPrefix(path.Base(name), ".")
}

// numbersOf are the numbers in a file of a release, and the names of their variables, if
// it has any.
func numbersOf(name string, content []byte) (numbers []float64, names string, err error) {
	ext := path.Ext(name)
	switch {
	case ext == ".parquet":
		return parquetNumbers(content)
	case isArray(name):
		if len(content)%8 != 0 {
			return nil, "", fmt.Errorf("%d bytes are no numbers", len(content))
		}
		numbers = make([]float64, len(content)/8)
		return numbers, "", binary.Read(bytes.NewReader(content), binary.LittleEndian, numbers)
	}
	text := string(content)
	if ext == ".html" { // figures show numbers of the text
		text = markup.ReplaceAllString(text, " ")
	}
	for _, word := range number.FindAllString(text, -1) {
		x, _ := strconv.ParseFloat(word, 64) // a hash that looks like a number may be an infinite one
		numbers = append(numbers, x)
	}
	if ext != ".html" && ext != ".md" && ext != ".yaml" { // words for people
		names = number.ReplaceAllString(text, "#")
	}
	return numbers, names, nil
}

var (
	markup = regexp.MustCompile(`(?s)<svg.*?</svg>|<style.*?</style>|<[^>]*>`)
	number = regexp.MustCompile(`-?\b\d+(\.\d+)?([eE][-+]?\d+)?\b`)
)

// sameNumbers compares numbers to a millionth of each: machines differ in the last
// bits of exponentials.
func sameNumbers(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		if y := b[i]; x != y && !(math.IsNaN(x) && math.IsNaN(y)) && !(math.Abs(x-y) <= 1e-6*math.Max(math.Abs(x), math.Abs(y))) {
			return false
		}
	}
	return true
}

// parquetNumbers are the numbers of a Parquet file, column by column, and its schema. Its
// reader panics at damage.
func parquetNumbers(raw []byte) (numbers []float64, schema string, err error) {
	defer func() {
		if damage := recover(); damage != nil {
			err = fmt.Errorf("damaged: %v", damage)
		}
	}()
	r, err := file.NewParquetReader(bytes.NewReader(raw))
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	for g := range r.NumRowGroups() {
		for c := range r.MetaData().Schema.NumColumns() {
			chunk, err := r.RowGroup(g).Column(c)
			if err != nil {
				return nil, "", err
			}
			switch chunk := chunk.(type) {
			case *file.Float64ColumnChunkReader:
				err = readAll(chunk, func(x float64) { numbers = append(numbers, x) })
			case *file.Int32ColumnChunkReader:
				err = readAll(chunk, func(x int32) { numbers = append(numbers, float64(x)) })
			default:
				err = fmt.Errorf("column %d holds no numbers", c+1)
			}
			if err != nil {
				return nil, "", err
			}
		}
	}
	return numbers, r.MetaData().Schema.String(), nil
}

// readAll emits the values of a column chunk, the elements of lists one by one.
func readAll[T int32 | float64](chunk interface {
	HasNext() bool
	ReadBatch(batch int64, values []T, definition, repetition []int16) (total int64, read int, err error)
}, each func(T)) error {
	var levels [2][4096]int16
	values := make([]T, len(levels[0]))
	for chunk.HasNext() {
		total, n, err := chunk.ReadBatch(int64(len(values)), values, levels[0][:], levels[1][:])
		if err != nil {
			return err
		}
		if total == 0 {
			return errors.New("a column is shorter than its header states")
		}
		for _, x := range values[:n] {
			each(x)
		}
	}
	return nil
}
