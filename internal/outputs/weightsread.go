package outputs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"d3p/internal/release"
	"d3p/internal/safetensors"
)

// Reference describes the file of the arrays, nil without arrays.
func Reference(list []safetensors.Array, metadata map[string]string) (*WeightsRef, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ref := &WeightsRef{File: WeightsName}
	sum := sha256.New()
	if err := WeightsFile(list, metadata).Write(sum); err != nil {
		return nil, err
	}
	ref.SHA256 = hex.EncodeToString(sum.Sum(nil))
	for _, a := range list {
		ref.Numbers += len(a.Values)
	}
	return ref, nil
}

// ReadWeights puts the weights that params.json refers to in their places among the
// parameters of the guide, so that p has all of them.
func (p *Parameters) ReadWeights(f *release.Folder) error {
	ref := p.Guide.Weights
	if ref == nil {
		return nil
	}
	if ref.File != WeightsName {
		return fmt.Errorf("params.json: the weights are in %q, want %s", ref.File, WeightsName)
	}
	raw, err := f.ReadFile(WeightsName)
	if err != nil {
		return fmt.Errorf("the weights: %w", err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != ref.SHA256 {
		return fmt.Errorf("%s: not the file of params.json: its SHA-256 is another (d3p verify names the altered file)", WeightsName)
	}
	arrays, _, err := safetensors.Read(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", WeightsName, err)
	}
	lambda, varDP := []float64{}, []float64{}
	rest := p.Guide.Lambda
	if len(rest) != len(p.Guide.VarDP) {
		return fmt.Errorf("params.json: %d guide parameters and %d variances, want as many", len(rest), len(p.Guide.VarDP))
	}
	for i := range p.Parameters {
		q := &p.Parameters[i]
		if !q.inFile() {
			continue
		}
		values := arrays[q.Name].Values
		before := q.Offset - len(lambda)
		if before < 0 || before > len(rest) || len(values) != q.entries() {
			return fmt.Errorf("%s: the array %s does not fit params.json", WeightsName, q.Name)
		}
		lambda = append(append(lambda, rest[:before]...), values...)
		rest = rest[before:]
	}
	lambda = append(lambda, rest...)
	varDP = append(varDP, make([]float64, len(lambda))...) // a point has none
	p.Guide.Lambda, p.Guide.VarDP = lambda, varDP
	return nil
}
