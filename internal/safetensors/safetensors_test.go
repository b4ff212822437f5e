package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestWrite reads a file of weights by the description of the format.
func TestWrite(t *testing.T) {
	list := []Array{
		{"net.dense1.weight", []int{2, 3}, []float64{1, -2, 3, 4, 5, 6e-300}},
		{"net.dense1.bias", []int{3}, []float64{7, 8, 9}},
	}
	var b bytes.Buffer
	if err := Write(&b, list, map[string]string{"d3p.run_id": "x"}); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	n := binary.LittleEndian.Uint64(raw)
	if n%8 != 0 {
		t.Errorf("the head has %d bytes, want a multiple of 8", n)
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(raw[8:8+n], &head); err != nil {
		t.Fatal(err)
	}
	data, used := raw[8+n:], 0
	for _, a := range list {
		var info entry
		if err := json.Unmarshal(head[a.Name], &info); err != nil {
			t.Fatal(err)
		}
		size := 1
		for i, d := range info.Shape {
			size *= d
			if d != a.Shape[i] {
				t.Errorf("%s has shape %v, want %v", a.Name, info.Shape, a.Shape)
			}
		}
		if info.DType != "F64" || info.Offsets[0] != used || info.Offsets[1]-info.Offsets[0] != 8*size {
			t.Errorf("%s: %+v", a.Name, info)
		}
		for i, want := range a.Values {
			if got := math.Float64frombits(binary.LittleEndian.Uint64(data[info.Offsets[0]+8*i:])); got != want {
				t.Errorf("%s[%d] = %g, want %g", a.Name, i, got, want)
			}
		}
		used = info.Offsets[1]
	}
	if used != len(data) || string(head["__metadata__"]) != `{"d3p.run_id":"x"}` {
		t.Errorf("%d of %d bytes are described; metadata %s", used, len(data), head["__metadata__"])
	}
	if Write(&b, append(list, list[0]), nil) == nil {
		t.Error("two arrays of one name are written")
	}
}

// Damaged files of weights are refused, not believed.
func TestReadRefusesDamagedFiles(t *testing.T) {
	const good = `{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`
	file := func(length uint64, head string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, length), head+"12345678"...)
	}
	if arrays, _, err := Read(file(uint64(len(good)), good)); err != nil || len(arrays["w"].Values) != 1 {
		t.Fatalf("%v, %v", arrays, err)
	}
	damaged := [][]byte{nil, {8, 0, 0}, file(math.MaxUint64, good), file(1000, good), file(2, "[]")}
	for _, change := range [][2]string{{"0,8", "0,16"}, {"0,8", "-8,0"}, {"0,8", "8,0"}, {"0,8", "0,7"}, {"F64", "F32"}, {"F64", "I64"}, {`"F64"`, "1"}, {"[1]", "[2]"}, {"[1]", "[-1]"}, {"[1]", "[0]"}} {
		head := strings.Replace(good, change[0], change[1], 1)
		damaged = append(damaged, file(uint64(len(head)), head))
	}
	for _, raw := range damaged {
		if _, _, err := Read(raw); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
}

// The reader never reads more than the file holds, and reads back what the writer
// wrote.
func FuzzRead(f *testing.F) {
	for _, list := range [][]Array{nil, {{"a", []int{2}, []float64{1, -0.5}}}, {{"a", nil, []float64{3}}, {"b", []int{0}, nil}}} {
		var b bytes.Buffer
		if err := Write(&b, list, map[string]string{"d3p.run_id": "x"}); err != nil {
			f.Fatal(err)
		}
		arrays, _, err := Read(b.Bytes())
		if err != nil || len(arrays) != len(list) {
			f.Fatalf("%v, %v", arrays, err)
		}
		for _, a := range list {
			if !slices.Equal(arrays[a.Name].Values, a.Values) {
				f.Fatalf("%s is %v, want %v", a.Name, arrays[a.Name], a.Values)
			}
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		arrays, _, _ := Read(raw)
		for name, a := range arrays {
			if 2*len(a.Values) > len(raw) {
				t.Errorf("%s has %d numbers from %d bytes", name, len(a.Values), len(raw))
			}
		}
	})
}

// Every width of a number is read as IEEE 754 and bfloat16 define it.
func TestReadWidths(t *testing.T) {
	want := []float64{1, -2.5, 0, 65504}
	for dtype, bits := range map[string][]byte{
		"F16":  {0, 0x3c, 0, 0xc1, 0, 0, 0xff, 0x7b},
		"BF16": {0x80, 0x3f, 0x20, 0xc0, 0, 0, 0x80, 0x47},
		"F32":  {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0, 0, 0, 0, 0, 0, 0xe0, 0x7f, 0x47},
	} {
		head := []byte(`{"w":{"dtype":"` + dtype + `","shape":[2,2],"data_offsets":[0,` + map[string]string{"F16": "8", "BF16": "8", "F32": "16"}[dtype] + `]}}`)
		raw := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), bits...)
		arrays, _, err := Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := arrays["w"].Values
		if dtype == "BF16" { // 65504 has no bfloat16
			want := []float64{1, -2.5, 0, 65536}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", dtype, got, want)
			}
		} else if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", dtype, got, want)
		}
	}
	if small := Half(1); small != 0x1p-24 {
		t.Errorf("the smallest half is %g", small)
	}
	if !math.IsInf(Half(0xfc00), -1) || !math.IsNaN(Half(0x7e00)) {
		t.Error("halves that are not finite")
	}
}
