package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"d3p/internal/settings"
)

// modelText is a model file up to its settings.
const modelText = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    y: {type: binary}
    x: {type: real, lower: 0, upper: 9}
model: {formula: y ~ x, family: bernoulli}
`

// settingTexts state, together, every setting of every block that takes values.
var settingTexts = []string{
	`nets: {n: {input: [x], layers: [relu]}}
guide: {type: mean_field, init: prior, init_scale: 0.2, blocks: {b: full_rank}}
fit:
  sampling: poisson
  sampling_rate: 0.125
  steps: 1000000
  noise_schedule: linear:0.5
  clipping: adaptive
  clip_norm: 2.5
  clip_quantile: 0.7
  optimizer: sgd
  learning_rate: 0.25
  schedule: cosine
  momentum: 0.75
  averaging: 0.3
  gradient: aligned
  noise_aware: variance
privacy: {epsilon: 3, delta: 0.0001, neighbours: add_remove, unit_level: true, ledger: "a: b", justification: "why # not"}
output:
  draws: 7
  formats: [csv, stan]
  weights: safetensors
  twin: {parameter_draws: 3, rows_per_draw: 5, separate_files: true, format: csv}
release: {authors: [ann, "b, c"], curators: [k], intended_use: "use: it", region: FI, sector: Energy}
`,
	`guide: {type: low_rank, rank: 1, init: zero}
fit:
  sampling: fixed_size
  batches: feistel
  batch_size: 17
  epochs: 1.5
  clipping: flat
  clip_norm: 1
  clip_norm_schedule: 2@0,1@0.5
  clip_groups: b@0.75
  trace: {loss: dp, accuracy: dp, share: 0.05}
  optimizer: adamw
  weight_decay: 0.01
privacy: {noise_multiplier: 2, neighbours: substitute, unit_level: true, table1: 0.02}
output: {sample_rows: 9, draws: 0}
`,
	`guide: {init: {b: spread_on_bounds}}
fit: {compat: d3p}
output: {relabel: {order_by: mu, dim: x}}
`,
	`guide: {type: custom, params: {b: "normal(m, 1)"}, free: {m: "zeros"}}
fit: {clipping: flat, batch_schedule: linear:0.5}
`,
	`guide: {type: amortised, rows: {z: "normal(0, 1)"}}
`,
}

// A run and its checkpoint use the rendered file: it states every setting of the original.
// The same holds for all examples.
func TestRenderStatesEverySetting(t *testing.T) {
	all := strings.Join(settingTexts, "")
	var schema struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	old := map[string]bool{} // fit.clip of fit.clip.norm
	for _, row := range settings.Table() {
		for _, key := range row.OldKeys {
			parts := strings.Split(key, ".")
			old[parts[0]+"."+parts[1]] = true
		}
	}
	for _, block := range []string{"guide", "fit", "privacy", "output", "release"} {
		keys := schema.Properties[block].Properties
		if len(keys) < 5 {
			t.Errorf("%s has %d settings", block, len(keys))
		}
		for key := range keys {
			if !strings.Contains(all, key+":") && !old[block+"."+key] && key != "microbatch" { // it changes no fit
				t.Errorf("%s: %s is in none of the texts of this test", block, key)
			}
		}
	}
	texts := map[string]string{}
	for _, s := range settingTexts {
		first, _, _ := strings.Cut(s, "\n")
		texts[first] = modelText + s
	}
	for _, pattern := range []string{"testdata/valid/*.yaml", "../../../configs/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(src)
		}
	}
	for name, text := range texts {
		t.Run(filepath.Base(name), func(t *testing.T) {
			load := func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(filepath.Dir(name), path)) }
			s, errs := Parse(name, []byte(text), load)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			again, errs := Parse("rendered.yaml", s.Render(), load)
			if len(errs) > 0 {
				t.Fatalf("%v\n%s", errs, s.Render())
			}
			sameValues(t, "spec", reflect.ValueOf(*s), reflect.ValueOf(*again))
			var file, rendered map[string]any
			if err := errors.Join(yaml.Unmarshal([]byte(text), &file), yaml.Unmarshal(s.Render(), &rendered)); err != nil {
				t.Fatal(err)
			}
			for _, block := range []string{"name", "description", "guide", "fit", "privacy", "output", "release"} {
				if file[block] != nil {
					stated(t, block, file[block], rendered[block])
				}
			}
		})
	}
}

// stated checks that every value of a file stands in what is rendered of it.
func stated(t *testing.T, path string, file, rendered any) {
	t.Helper()
	switch keys, block := file.(map[string]any); {
	case path == "output.sample_rows": // stands as output.twin
	case block && reflect.TypeOf(rendered) == reflect.TypeOf(file):
		for key, value := range keys {
			stated(t, path+"."+key, value, rendered.(map[string]any)[key])
		}
	case fmt.Sprint(file) != fmt.Sprint(rendered):
		t.Errorf("%s is %v in the file and %v as rendered", path, file, rendered)
	}
}
