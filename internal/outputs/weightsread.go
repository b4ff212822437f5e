package outputs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"d3p/internal/jsonfile"
	"d3p/internal/release"
)

// Reference describes the file of the arrays, nil without arrays.
func Reference(list []WeightArray, metadata map[string]string) (*WeightsRef, error) {
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

// ReadWeights puts the weights that params.json refers to where they belong
// among the parameters of the guide, so that p is as if it had them all.
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
	arrays, err := parseWeights(raw)
	if err != nil {
		return err
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
		values := arrays[q.Name]
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

// parseWeights reads a file in the format safetensors that holds arrays of
// float64; see weightsFile.
func parseWeights(raw []byte) (map[string][]float64, error) {
	damaged := fmt.Errorf("%s: damaged: its head does not fit its length", WeightsName)
	if len(raw) < 8 {
		return nil, damaged
	}
	n, raw := binary.LittleEndian.Uint64(raw), raw[8:]
	if n > uint64(len(raw)) {
		return nil, damaged
	}
	var head map[string]json.RawMessage
	if err := jsonfile.Strict(bytes.TrimRight(raw[:n], " "), &head); err != nil {
		return nil, fmt.Errorf("%s: %w", WeightsName, err)
	}
	data, arrays, used := raw[n:], make(map[string][]float64), 0
	for name, text := range head {
		if name == "__metadata__" {
			continue
		}
		var info tensorInfo
		if err := json.Unmarshal(text, &info); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", WeightsName, name, err)
		}
		from, to := info.Offsets[0], info.Offsets[1]
		if info.DType != "F64" || from < 0 || to < from || to > len(data) || (to-from)%8 != 0 {
			return nil, damaged
		}
		if used += to - from; used > len(data) { // arrays do not overlap
			return nil, damaged
		}
		values := make([]float64, (to-from)/8)
		for i := range values {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[from+8*i:]))
		}
		arrays[name] = values
	}
	return arrays, nil
}
