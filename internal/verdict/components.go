package verdict

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/outputs"
)

const emptyComponent = 10 // records of a mixture's component

// judgeComponents finds weights of components that hold no records. Their other
// parameters have no sign of it but the prior.
func (d *judged) judgeComponents() {
	for _, g := range d.Groups {
		if len(g.Dims) != 1 || g.Size < 2 || d.Variables[g.First].Constraint != "simplex" {
			continue
		}
		var empty []string
		for v := g.First; v < g.First+g.Size; v++ {
			mean, _ := stat.MeanVariance(d.Of(v), nil)
			if records := mean * d.known.Declared; records < emptyComponent {
				d.cap(v, outputs.Not, "its component has the weight of %.1f records", records)
				empty = append(empty, g.Dims[0].Labels[v-g.First])
			}
		}
		for _, other := range d.Groups {
			if other.First == g.First || len(empty) == 0 || len(other.Dims) == 0 || other.Dims[0].Name != g.Dims[0].Name {
				continue
			}
			row := other.Size / len(g.Dims[0].Labels)
			for i, label := range g.Dims[0].Labels {
				for j := i * row; slices.Contains(empty, label) && j < (i+1)*row; j++ {
					v := other.First + j
					d.cap(v, outputs.Not, "component %s has no records", label)
				}
			}
		}
	}
}
