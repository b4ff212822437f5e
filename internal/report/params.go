package report

import (
	"strings"
)

// Parameters is params.json: the released object itself. The draws, summaries
// and predictions all follow from it.
type Parameters struct {
	SchemaVersion int         `json:"schema_version"`
	Privacy       string      `json:"privacy,omitempty"`
	Model         string      `json:"model"`
	Guide         Guide       `json:"guide"`
	Steps         int         `json:"steps"`
	Parameters    []Parameter `json:"parameters"`
}

// Guide is the variational family and its parameters, averaged over the last
// iterates.
type Guide struct {
	Family string    `json:"family"`
	Rank   int       `json:"rank,omitempty"`
	Lambda []float64 `json:"lambda"`
	VarDP  []float64 `json:"var_dp"` // of each unconstrained number: what the privacy noise may have moved it
}

// Parameter is one named parameter of the model. Mean and the standard
// deviations are of the unconstrained numbers; Transform takes these to the
// parameter's own scale.
type Parameter struct {
	Name       string    `json:"name"`
	Dims       []Dim     `json:"dims"`
	Elements   []string  `json:"elements"` // names of the constrained scalars, in order
	Prior      string    `json:"prior"`
	Constraint string    `json:"constraint"`
	Transform  string    `json:"transform"`
	Offset     int       `json:"offset"` // of its first unconstrained number
	Mean       []float64 `json:"unconstrained_mean"`
	SD         []float64 `json:"unconstrained_sd"`       // total
	SDGuide    []float64 `json:"unconstrained_sd_guide"` // of the guide alone
	NoiseShare []float64 `json:"dp_noise_share"`         // part of the variance that stands for the privacy noise
}

// Dim is a named dimension with the labels of its entries.
type Dim struct {
	Name   string   `json:"name"`
	Labels []string `json:"labels"`
}

// Elements names the scalars of a parameter as the R package brms does:
// b[age], r_hospital[H01,Intercept]; the last dimension varies fastest.
func Elements(name string, dims []Dim) []string {
	names := []string{""}
	for _, d := range dims {
		var longer []string
		for _, prefix := range names {
			for _, label := range d.Labels {
				longer = append(longer, strings.TrimPrefix(prefix+","+label, ","))
			}
		}
		names = longer
	}
	if len(dims) == 0 {
		return []string{name}
	}
	for i := range names {
		names[i] = name + "[" + names[i] + "]"
	}
	return names
}
