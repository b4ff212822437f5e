package outputs

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"d3p/internal/models"
	"d3p/internal/models/net"
	"d3p/internal/posterior"
	"d3p/internal/release"
)

// WeightsName is the file of the weights of networks.
const WeightsName = "weights.safetensors"

// isPoint reports whether a parameter holds weights that are only a point: these are in
// WeightsName, not in draws, summaries and traces.
func isPoint(q *models.Param) bool { return q.Weight && q.Prior == net.FlatPrior }

// WeightArray is one array of weights, row-major.
type WeightArray struct {
	Name   string
	Shape  []int
	Values []float64
}

// WeightsOf returns the arrays of weights of m that are points.
func WeightsOf(m *models.Model, p *posterior.Posterior) (list []WeightArray) {
	for i := range m.Params {
		q := &m.Params[i]
		if !isPoint(q) {
			continue
		}
		w := WeightArray{Name: q.Name, Values: p.Mean[q.Offset : q.Offset+q.Size]}
		for _, d := range q.Dims {
			w.Shape = append(w.Shape, len(d.Labels))
		}
		list = append(list, w)
	}
	return list
}

// PointScalars is the number of scalars of m that are weights in WeightsName.
func PointScalars(m *models.Model) int {
	n := 0
	for i := range m.Params {
		if isPoint(&m.Params[i]) {
			n += m.Params[i].Size
		}
	}
	return n
}

// WithoutWeights leaves out of x, of P numbers, those of parameters in WeightsName.
func WithoutWeights(list []Parameter, x []float64) []float64 {
	kept, at := []float64{}, 0
	for i := range list {
		if p := &list[i]; p.inFile() {
			kept = append(kept, x[at:p.Offset]...)
			at = p.Offset + p.entries()
		}
	}
	return append(kept, x[at:]...)
}

// tensorInfo is the entry of one array in the head of a safetensors file.
type tensorInfo struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// WeightsFile is WeightsName, in the format safetensors, which PyTorch, JAX,
// TensorFlow and NumPy open: the length of the head as a little-endian uint64,
// the head in JSON, padded with spaces to 8 bytes, and the numbers, float64,
// little-endian. https://huggingface.co/docs/safetensors, format 1.
func WeightsFile(list []WeightArray, metadata map[string]string) release.File {
	return release.File{Name: WeightsName, Covered: true, Write: func(w io.Writer) error {
		head := map[string]any{"__metadata__": metadata}
		at := 0
		for _, a := range list {
			to := at + 8*len(a.Values)
			shape := a.Shape
			if shape == nil {
				shape = []int{}
			}
			if _, twice := head[a.Name]; twice {
				return fmt.Errorf("%s: two arrays are called %s", WeightsName, a.Name)
			}
			head[a.Name] = tensorInfo{"F64", shape, [2]int{at, to}}
			at = to
		}
		text, err := json.Marshal(head)
		if err != nil {
			return err
		}
		for len(text)%8 != 0 {
			text = append(text, ' ')
		}
		if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		for _, a := range list {
			if err := binary.Write(w, binary.LittleEndian, a.Values); err != nil {
				return err
			}
		}
		return nil
	}}
}
