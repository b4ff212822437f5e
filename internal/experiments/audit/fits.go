package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// released runs d3p fit n times, on all processors, and returns the parameters of each
// release.
func (a attack) released(name, data string, n int, args []string) ([][]float64, error) {
	all := make([][]float64, n)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			out := filepath.Join(a.dir, fmt.Sprintf("%s-%d", name, i))
			fit := append([]string{"fit", "--quiet", "--formats=csv", "--threads=1", "--draws=" + a.draws(),
				"--model=" + filepath.Join(a.dir, "model.yaml"), "--out=" + out}, args...)
			defer os.RemoveAll(out)
			_, err := a.command(append(fit, data)...)
			if err == nil {
				all[i], err = parameters(filepath.Join(out, "release"))
			}
			return err
		})
	}
	return all, group.Wait()
}

// draws is the number of posterior draws: a network's point has none.
func (a attack) draws() string {
	if strings.Contains(a.model, "nets:") {
		return "0"
	}
	return "10"
}

// reduced is the noise multiplier of d3p plan for a price, times o.noise.
func (a attack) reduced(price []string) string {
	out, err := a.command(append(append([]string{"plan", "--json", "--model=" + filepath.Join(a.dir, "model.yaml")}, a.args...), price...)...)
	var plan struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
	}
	if err == nil {
		err = json.Unmarshal(out, &plan)
	}
	if err != nil {
		panic(err)
	}
	return strconv.FormatFloat(a.noise*plan.NoiseMultiplier, 'g', -1, 64)
}

// command runs d3p.
func (a attack) command(args ...string) ([]byte, error) {
	var stderr strings.Builder
	c := exec.Command(a.d3p, args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("d3p %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// parameters are all numbers of a release that the fit changed: the guide's, and the
// weights of networks.
func parameters(release string) ([]float64, error) {
	raw, err := os.ReadFile(filepath.Join(release, "params.json"))
	if err != nil {
		return nil, err
	}
	var file struct {
		Guide struct{ Lambda []float64 }
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	weights, err := filepath.Glob(filepath.Join(release, "*.safetensors"))
	if err != nil {
		return nil, err
	}
	all := file.Guide.Lambda
	for _, path := range weights {
		values, err := tensors(path)
		if err != nil {
			return nil, err
		}
		all = append(all, values...)
	}
	return all, nil
}

// tensors reads all numbers of a safetensors file, by the names of their tensors.
func tensors(path string) ([]float64, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(raw)
	header := map[string]struct {
		DType   string `json:"dtype"`
		Offsets [2]int `json:"data_offsets"`
	}{}
	if err := json.Unmarshal(raw[8:8+length], &header); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	delete(header, "__metadata__")
	names := slices.Sorted(maps.Keys(header))
	var out []float64
	for _, name := range names {
		t := header[name]
		data := raw[8+length:][t.Offsets[0]:t.Offsets[1]]
		switch t.DType {
		case "F64":
			for ; len(data) > 0; data = data[8:] {
				out = append(out, math.Float64frombits(binary.LittleEndian.Uint64(data)))
			}
		case "F32":
			for ; len(data) > 0; data = data[4:] {
				out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
			}
		default:
			return nil, fmt.Errorf("%s: tensor %s of type %s", path, name, t.DType)
		}
	}
	return out, nil
}
