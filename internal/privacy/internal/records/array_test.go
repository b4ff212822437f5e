package records

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// pair is an encoding of two numbers a and b in [-100, 100], and of the level of
// c, one of 0 and 1.
func pair() encoding.Encoding {
	bound := func(column string, out int) encoding.Field {
		return encoding.Field{Column: column, Type: data.Real, Kind: encoding.Numeric, Lower: ptr(-100), Upper: ptr(100), Missing: encoding.MissingReject, Out: []int{out}}
	}
	return encoding.Encoding{K: 3, Header: []string{"c", "a", "b"}, Fields: []encoding.Field{
		bound("a", 0), bound("b", 1),
		{Column: "c", Type: data.Binary, Kind: encoding.LevelCode, Levels: []string{"0", "1"}, Missing: encoding.MissingReject, Unknown: encoding.UnknownReject, Out: []int{2}},
	}}
}

// predictors is pair without c.
func predictors() encoding.Encoding {
	e := pair()
	e.Fields, e.K = e.Fields[:2], 2
	return e
}

func idxFile(kind byte, dims []uint32, numbers any) []byte {
	var b bytes.Buffer
	b.Write([]byte{0, 0, kind, byte(len(dims))})
	binary.Write(&b, binary.BigEndian, dims)
	binary.Write(&b, binary.BigEndian, numbers)
	return b.Bytes()
}

func npyFile(head string, numbers any) []byte {
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(head)))
	b.WriteString(head)
	binary.Write(&b, binary.LittleEndian, numbers)
	return b.Bytes()
}

// fileAt puts content in a file that is named as what it starts like.
func fileAt(t testing.TB, content []byte) string {
	plain, end := content, ""
	if bytes.HasPrefix(content, []byte("\x1f\x8b")) {
		end = ".gz"
		if z, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
			plain, _ = io.ReadAll(z)
		}
	}
	name := "data.csv"
	switch {
	case bytes.HasPrefix(plain, []byte("\x93")):
		name = "data.npy"
	case bytes.HasPrefix(plain, []byte("PAR1")):
		name = "data.parquet"
	case bytes.HasPrefix(plain, []byte("\x00\x00")):
		name = "data.idx"
	}
	return modelstest.File(t, name+end, string(content))
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// TestArrays reads the same records in every type of number that has them.
func TestArrays(t *testing.T) {
	want := [][]float64{{1, -2}, {3, 4}, {100, 6}}
	dims := []uint32{3, 1, 2}
	const head = "{'descr': '%', 'fortran_order': False, 'shape': (3, 2), }\n"
	descr := func(d string) string { return strings.Replace(head, "%", d, 1) }
	files := map[string][]byte{
		"int8":     idxFile(0x09, dims, []int8{1, -2, 3, 4, 101, 6}),
		"int16":    idxFile(0x0b, dims, []int16{1, -2, 3, 4, 1000, 6}),
		"int32":    idxFile(0x0c, dims, []int32{1, -2, 3, 4, 1000, 6}),
		"float32":  idxFile(0x0d, dims, []float32{1, -2, 3, 4, 1000, 6}),
		"float64":  idxFile(0x0e, dims, []float64{1, -2, 3, 4, 1000, 6}),
		"gzip":     zipped(idxFile(0x0e, dims, []float64{1, -2, 3, 4, 1000, 6})),
		"npy i1":   npyFile(descr("|i1"), []int8{1, -2, 3, 4, 101, 6}),
		"npy i2":   npyFile(descr("<i2"), []int16{1, -2, 3, 4, 1000, 6}),
		"npy i4":   npyFile(descr("<i4"), []int32{1, -2, 3, 4, 1000, 6}),
		"npy i8":   npyFile(descr("<i8"), []int64{1, -2, 3, 4, 1000, 6}),
		"npy f2":   npyFile(descr("<f2"), []uint16{0x3c00, 0xc000, 0x4200, 0x4400, 0x63d0, 0x4600}),
		"npy f4":   npyFile(descr("<f4"), []float32{1, -2, 3, 4, 1000, 6}),
		"npy f8":   npyFile(descr("<f8"), []float64{1, -2, 3, 4, 1000, 6}),
		"npy gzip": zipped(npyFile(descr("<f8"), []float64{1, -2, 3, 4, 1000, 6})),
	}
	for name, content := range files {
		rows, _, err := readOne(fileAt(t, content), predictors(), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, unpack(t, rows)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	unsigned := map[string][]byte{
		"uint8":  idxFile(0x08, dims, []uint8{1, 2, 3, 4, 200, 6}),
		"npy u1": npyFile(descr("|u1"), []uint8{1, 2, 3, 4, 200, 6}),
		"npy u2": npyFile(descr("<u2"), []uint16{1, 2, 3, 4, 200, 6}),
		"npy u4": npyFile(descr("<u4"), []uint32{1, 2, 3, 4, 200, 6}),
		"npy u8": npyFile(descr("<u8"), []uint64{1, 2, 3, 4, 200, 6}),
	}
	for name, content := range unsigned {
		rows, _, err := readOne(fileAt(t, content), predictors(), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff([][]float64{{1, 2}, {3, 4}, {100, 6}}, unpack(t, rows)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestArrayWithoutNumber checks that NaN makes a record invalid, as in a table.
func TestArrayWithoutNumber(t *testing.T) {
	content := idxFile(0x0e, []uint32{2, 2}, []float64{1, math.NaN(), 3, 4})
	rows, check, err := readOne(fileAt(t, content), predictors(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{nil, {3, 4}}, unpack(t, rows)); diff != "" || check.Rejected != 1 {
		t.Errorf("%d rejected, %s", check.Rejected, diff)
	}
}

// TestLabels reads images together with their labels by the names of MNIST.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	images, labels := filepath.Join(dir, "train-images-idx3-ubyte.gz"), filepath.Join(dir, "train-labels-idx1-ubyte.gz")
	put := func(path string, content []byte) {
		if err := os.WriteFile(path, zipped(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(images, idxFile(0x08, []uint32{2, 1, 2}, []uint8{1, 2, 3, 4}))
	_, _, err := readOne(images, pair(), Options{})
	if err == nil || !strings.Contains(err.Error(), "is not there, but the model needs a label of each record") {
		t.Errorf("error %v", err)
	}
	put(labels, idxFile(0x08, []uint32{2}, []uint8{1, 0}))
	rows, _, err := readOne(images, pair(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{1, 2, 1}, {3, 4, 0}}, unpack(t, rows)); diff != "" {
		t.Error(diff)
	}
	alone := pair()
	alone.Fields, alone.K = alone.Fields[2:], 1
	alone.Fields[0].Out = []int{0}
	if rows, _, err = readOne(images, alone, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{1}, {0}}, unpack(t, rows)); diff != "" {
		t.Error(diff)
	}
	put(labels, idxFile(0x08, []uint32{3}, []uint8{1, 0, 1}))
	if _, _, err = readOne(images, pair(), Options{}); err == nil || !strings.HasSuffix(err.Error(), "does not have one label for every record") {
		t.Errorf("error %v", err)
	}
}

// TestLabelTwice: a number too many would be read as the label that a file beside has, and
// all other numbers would be moved. Where that is declared, or nothing else is predicted
// from, the file is read.
func TestLabelTwice(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	features := put("features.npy", npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", []uint8{1, 20, 30, 0, 50, 60}))
	supervised := pair()
	supervised.Fields[2].Role = encoding.Response
	declared := supervised
	declared.Header, declared.Headless = []string{"a", "b", "c"}, true
	unread := predictors()
	for _, c := range []struct {
		name   string
		e      encoding.Encoding
		labels bool
		want   [][]float64
	}{
		{"no labels beside", supervised, false, [][]float64{{20, 30, 1}, {50, 60, 0}}},
		{"the label is observed", supervised, true, nil},
		{"the label is not read", unread, true, nil},
		{"the first column is no label", pair(), true, [][]float64{{20, 30, 1}, {50, 60, 0}}},
		{"the order is declared", declared, true, [][]float64{{1, 20, math.NaN()}, {0, 50, math.NaN()}}},
	} {
		os.Remove(filepath.Join(dir, "labels.npy"))
		if c.labels {
			put("labels.npy", npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", []uint8{1, 0}))
		}
		rows, check, err := readOne(features, c.e, Options{})
		if c.want == nil {
			if err == nil || !strings.Contains(err.Error(), "labels.npy beside the file has a label of each record, too") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if math.IsNaN(c.want[0][2]) { // no level 30
			if check.Rejected != 2 {
				t.Errorf("%s: %d rejected", c.name, check.Rejected)
			}
		} else if diff := cmp.Diff(c.want, unpack(t, rows)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestBadArrays checks that damaged files are errors about the file.
func TestBadArrays(t *testing.T) {
	whole := idxFile(0x08, []uint32{2, 2}, []uint8{1, 2, 3, 4})
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"short":     {whole[:len(whole)-1], "is shorter than its head says"},
		"head only": {whole[:6], "is shorter than its head says"},
		"huge":      {idxFile(0x08, []uint32{1 << 31, 2}, []uint8{1}), "is shorter than its head says"},
		"wide":      {idxFile(0x08, []uint32{2, 1 << 31, 1 << 31}, []uint8{1}), "states records without numbers or with more than a million"},
		"wider":     {idxFile(0x08, []uint32{2, 1 << 11, 1 << 11}, []uint8{1}), "states records without numbers or with more than a million"},
		"no width":  {idxFile(0x08, []uint32{2, 0}, []uint8{}), "states records without numbers or with more than a million"},
		"npy wide":  {npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2048, 2048)}", []float64{1}), "states records without numbers or with more than a million"},
		"no shape":  {npyFile("{'descr': '<f8', 'fortran_order': False}", []float64{1, 2}), "is an npy array whose head cannot be read"},
		"no order":  {npyFile("{'descr': '<f8', 'shape': (1, 2)}", []float64{1, 2}), "is an npy array whose head cannot be read"},
		"no type":   {npyFile("{'fortran_order': False, 'shape': (1, 2)}", []float64{1, 2}), "is an npy array whose head cannot be read"},
		"columns":   {idxFile(0x08, []uint32{1, 5}, []uint8{1, 2, 3, 4, 5}), "has 5 numbers in a record, but the model file declares 3"},
		"fortran":   {npyFile("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2)}", []float64{1, 2}), "is in Fortran order"},
		"complex":   {npyFile("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 2)}", []float64{1, 2}), "has numbers of a type that is not read"},
		"no dict":   {npyFile("hello", []float64{1, 2}), "is an npy array whose head cannot be read"},
		"Parquet":   {zipped([]byte("PAR1 and more")), "is no Parquet file that can be decoded (write it again"},
		"not gzip":  {[]byte("\x1f\x8bhello"), "is not, to its end, a file compressed by gzip"},
	} {
		_, _, err := readOne(fileAt(t, c.content), predictors(), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// FuzzArray checks that no file of any content ends the program, and that what
// is read has the numbers of its head.
func FuzzArray(f *testing.F) {
	f.Add(idxFile(0x08, []uint32{2, 2}, []uint8{1, 2, 3, 4}))
	f.Add(npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}", []float64{1, 2}))
	f.Add(zipped(idxFile(0x0d, []uint32{1, 2}, []float32{1, 2})))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := fileAt(t, content)
		rows, _, err := readOne(path, predictors(), Options{MaxMemory: 1 << 20})
		if err == nil && rows.N > len(content)*1032 {
			t.Errorf("%d records from %d bytes", rows.N, len(content))
		}
	})
}

// cifar10File is a file of records that are a class and the numbers of the first pixels;
// all others are 7.
func cifar10File(records ...[]byte) string {
	var b strings.Builder
	for _, r := range records {
		b.Write(r)
		b.WriteString(strings.Repeat("\a", 3073-len(r)))
	}
	return b.String()
}

// cifar10Encoding reads the class, the first two numbers, and the last one.
func cifar10Encoding() encoding.Encoding {
	e := pair()
	e.Header = []string{"c", "a", "b"}
	for i := 3; i < 3072; i++ {
		e.Header = append(e.Header, fmt.Sprintf("px%d", i))
	}
	e.Header = append(e.Header, "last")
	last := e.Fields[0]
	last.Column, last.Out = "last", []int{3}
	e.Fields, e.K = append(e.Fields, last), 4
	return e
}

// The class of an image of CIFAR-10 comes first, then its numbers; the length of the files
// counts them.
func TestCIFAR10(t *testing.T) {
	path := modelstest.File(t, "data_batch_1.bin", cifar10File([]byte{1, 20, 30}, []byte{0, 200, 5}))
	rows, _, err := readOne(path, cifar10Encoding(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{20, 30, 1, 7}, {100, 5, 0, 7}}, unpack(t, rows)); diff != "" {
		t.Error(diff)
	}
	if rows, _, err = readOne(modelstest.File(t, "test_batch.bin", ""), cifar10Encoding(), Options{}); err != nil || rows.N != 0 {
		t.Errorf("no image: %v, %v", rows, err)
	}
	_, _, err = readOne(modelstest.File(t, "data_batch_2.bin", cifar10File([]byte{1})+"x"), cifar10Encoding(), Options{})
	if err == nil || !strings.Contains(err.Error(), "3073 bytes each") {
		t.Errorf("a file with half an image: %v", err)
	}
	_, _, err = readOne(modelstest.File(t, "data_batch_2.bin", cifar10File([]byte{1})), pair(), Options{})
	if err == nil || !strings.Contains(err.Error(), "3073 numbers in a record") {
		t.Errorf("a model of three columns: %v", err)
	}
}

// The number of a class in an array is the place of its level, unless levels are numbers.
func TestClassesOfArrays(t *testing.T) {
	for _, c := range []struct {
		levels []string
		want   [][]float64
	}{
		{[]string{"airplane", "bird", "cat"}, [][]float64{{2}, {0}, nil}},
		{[]string{"2", "0", "5"}, [][]float64{{0}, {1}, nil}},
	} {
		e := one(encoding.Field{Column: "c", Type: data.Category, Kind: encoding.LevelCode, Levels: c.levels, Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}})
		e.Header = []string{"c", "a"}
		rows, check, err := readOne(fileAt(t, npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }\n", []uint8{2, 9, 0, 9, 3, 9})), e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, unpack(t, rows)); diff != "" || check.Rejected != 1 {
			t.Errorf("%v: %d rejected, %s", c.levels, check.Rejected, diff)
		}
	}
}
