// Package outputs writes the files of a posterior: parameters, weights, iterates,
// summaries, and draws in every format.
package outputs

import (
	"fmt"
	"math"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/posterior"
)

// Parameters is params.json: the released object itself. The draws, summaries
// and predictions all follow from it.
type Parameters struct {
	SchemaVersion int                   `json:"schema_version"`
	Privacy       string                `json:"privacy,omitempty"`
	Model         string                `json:"model"`
	Guide         Guide                 `json:"guide"`
	Steps         int                   `json:"steps"`
	StepMisfit    *posterior.StepMisfit `json:"step_misfit,omitempty"`
	Parameters    []Parameter           `json:"parameters"`
}

// Guide is the variational family and its parameters, averaged over the last
// iterates.
type Guide struct {
	Family string        `json:"family"`
	Rank   int           `json:"rank,omitempty"`
	Chains int           `json:"chains,omitempty"` // that a sample comes from
	Blocks []guide.Block `json:"blocks,omitempty"`
	// Lambda are the guide's parameters and VarDP, for each unconstrained number, the
	// variance of the privacy noise. With Weights, which only the guide delta has, both
	// leave out the parameters in that file.
	Lambda []float64 `json:"lambda"`
	VarDP  []float64 `json:"var_dp"`
	// NoiseFactor is a factor of the noise's covariance, lower triangle row by
	// row, where its numbers are not independent.
	NoiseFactor []float64   `json:"noise_factor,omitempty"`
	Weights     *WeightsRef `json:"weights,omitempty"`
}

// WeightsRef is the file that holds the parameters that are weights.
type WeightsRef struct {
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Numbers int    `json:"numbers"`
}

// Parameter is one named parameter of the model. Mean and the standard
// deviations are of the unconstrained numbers; Transform takes these to the
// parameter's own scale.
type Parameter struct {
	Name       string    `json:"name"`
	Dims       []Dim     `json:"dims"`
	Elements   []string  `json:"elements"` // names of the constrained scalars, in order
	Prior      string    `json:"prior"`
	Transform  string    `json:"transform"`
	Offset     int       `json:"offset"` // of its first unconstrained number
	Mean       []float64 `json:"unconstrained_mean"`
	SD         []float64 `json:"unconstrained_sd"`       // total
	SDGuide    []float64 `json:"unconstrained_sd_guide"` // of the guide alone
	NoiseShare []float64 `json:"dp_noise_share"`         // the privacy noise's part of the variance
	File       string    `json:"file,omitempty"`         // that holds the numbers instead of the lists here
}

// inFile reports whether the parameter's numbers are in WeightsName.
func (p *Parameter) inFile() bool { return p.File != "" }

// entries is the number of entries of its array.
func (p *Parameter) entries() int {
	n := 1
	for _, d := range p.Dims {
		n *= len(d.Labels)
	}
	return n
}

// Dim is a named dimension with the labels of its entries.
type Dim struct {
	Name   string   `json:"name"`
	Labels []string `json:"labels"`
}

// ParametersOf describes the parameters of m under the posterior p.
func ParametersOf(m *models.Model, p *posterior.Posterior) []Parameter {
	sd, share := make([]float64, m.P), make([]float64, m.P)
	p.SD(sd)
	p.NoiseShare(share)
	list := make([]Parameter, len(m.Params))
	for i := range m.Params {
		q := &m.Params[i]
		from, to := q.Offset, q.Offset+q.Size
		out := Parameter{
			Name: q.Name, Dims: []Dim{}, Elements: []string{}, Prior: q.Prior, Transform: q.Transform.Name, Offset: q.Offset,
			Mean: p.Mean[from:to], SD: sd[from:to], NoiseShare: share[from:to], SDGuide: make([]float64, q.Size),
		}
		if isPoint(q) {
			out.File, out.Mean, out.SD, out.SDGuide, out.NoiseShare = WeightsName, []float64{}, []float64{}, []float64{}, []float64{}
		} else {
			out.Elements = q.Elements()
		}
		for j := range out.SDGuide {
			out.SDGuide[j] = math.Exp(p.LogSD[from+j])
		}
		for _, d := range q.Dims {
			out.Dims = append(out.Dims, Dim{d.Name, d.Labels})
		}
		list[i] = out
	}
	return list
}

// Posterior is the posterior of the model m that the parameters describe.
func (p Parameters) Posterior(m *models.Model) (*posterior.Posterior, error) {
	latent := len(p.Guide.VarDP)
	if latent != m.P {
		return nil, fmt.Errorf("params.json: %d parameters, the model has %d", latent, m.P)
	}
	g, err := plan.NewGuide(m, p.Guide.Family, guide.Options{
		Rank: p.Guide.Rank, Blocks: p.Guide.Blocks, Draws: len(p.Guide.Lambda)/m.P - 1, Chains: p.Guide.Chains,
	})
	if err != nil {
		return nil, fmt.Errorf("params.json: %w", err)
	}
	if len(p.Guide.Lambda) != g.Size() {
		return nil, fmt.Errorf("params.json: %d guide parameters, want %d", len(p.Guide.Lambda), g.Size())
	}
	if n := len(p.Guide.NoiseFactor); n != 0 && n != latent*(latent+1)/2 {
		return nil, fmt.Errorf("params.json: noise_factor has %d numbers, want %d", n, latent*(latent+1)/2)
	}
	return &posterior.Posterior{
		Guide: g, Lambda: p.Guide.Lambda, Mean: guide.Location(g, p.Guide.Lambda),
		LogSD: posterior.LogSD(g, p.Guide.Lambda, p.Guide.VarDP), VarDP: p.Guide.VarDP, NoiseFactor: p.Guide.NoiseFactor, Steps: p.Steps,
		StepMisfit: p.StepMisfit,
	}, nil
}
