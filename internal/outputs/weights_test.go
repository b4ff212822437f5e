package outputs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
)

// TestWeightsFile reads a file of weights by the description of the format.
func TestWeightsFile(t *testing.T) {
	list := []WeightArray{
		{"net.dense1.weight", []int{2, 3}, []float64{1, -2, 3, 4, 5, 6e-300}},
		{"net.dense1.bias", []int{3}, []float64{7, 8, 9}},
	}
	var b bytes.Buffer
	if err := WeightsFile(list, map[string]string{"d3p.run_id": "x"}).Write(&b); err != nil {
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
		var info tensorInfo
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
	if WeightsFile(append(list, list[0]), nil).Write(&b) == nil {
		t.Error("two arrays of one name are written")
	}
}
