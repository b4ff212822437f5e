package outputs

import (
	"fmt"
	"io"

	"d3p/internal/models"
	"d3p/internal/models/net"
	"d3p/internal/posterior"
	"d3p/internal/release"
	"d3p/internal/safetensors"
)

// WeightsName is the file of the weights of networks.
const WeightsName = "weights.safetensors"

// isPoint reports whether a parameter holds weights that are only a point: these are in
// WeightsName, not in draws, summaries and traces.
func isPoint(q *models.Param) bool { return q.Weight && q.Prior == net.FlatPrior }

// WeightsOf returns the arrays of weights of m that are points.
func WeightsOf(m *models.Model, p *posterior.Posterior) (list []safetensors.Array) {
	for i := range m.Params {
		q := &m.Params[i]
		if !isPoint(q) {
			continue
		}
		w := safetensors.Array{Name: q.Name, Values: p.Mean[q.Offset : q.Offset+q.Size]}
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

// WeightsFile is WeightsName.
func WeightsFile(list []safetensors.Array, metadata map[string]string) release.File {
	return release.File{Name: WeightsName, Covered: true, Write: func(w io.Writer) error {
		if err := safetensors.Write(w, list, metadata); err != nil {
			return fmt.Errorf("%s: %w", WeightsName, err)
		}
		return nil
	}}
}
