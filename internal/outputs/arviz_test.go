package outputs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"d3p/internal/outputs"
)

// arvizGroups are the groups that ArviZ knows and that depend on no record but
// through the release: its schema, docs/source/schema/schema.md, less
// observed_data, constant_data, log_likelihood, posterior_predictive and their
// unconstrained and warm-up kin. unconstrained_posterior is in the schema of 0.17.
var arvizGroups = []string{
	"posterior", "prior", "prior_predictive", "unconstrained_posterior", "sample_stats", "predictions", "predictions_constant_data",
}

// A store follows the rules of the ArviZ schema: known groups alone; chain and
// draw first in every group of draws; every dim with a coordinate of its name
// and length; no variable called like a dim; the attributes of make_attrs.
func TestArviZSchema(t *testing.T) {
	run, files := allFormats(t)
	sample := &outputs.Sample{Model: run.Name}
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Describe(sample); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	responses := &outputs.Tables{S: 3, N: 2, Columns: []outputs.TableColumn{{"y", nil, make([]float64, 6)}, {"pred_id", nil, make([]float64, 6)}}}
	given := &outputs.Tables{S: 1, N: 2, Columns: []outputs.TableColumn{{"g", []string{"a", "b"}, []float64{0, 1}}, {"h", []string{"a"}, []float64{0, nan}}}}
	predictions := map[string][]byte{}
	for _, f := range outputs.PredictionFiles(sample, responses, given) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		predictions[f.Name] = b.Bytes()
	}
	groups := append(checkArviZ(t, files), checkArviZ(t, predictions)...)
	slices.Sort(groups)
	want := slices.Clone(arvizGroups)
	slices.Sort(want)
	if !slices.Equal(groups, want) {
		t.Errorf("groups %v, want %v", groups, want)
	}
	if predictions["idata.zarr/predictions/pred_id_column/.zarray"] == nil {
		t.Error("a response called like a dim has lost its name")
	}
	var h struct{ DType string }
	if err := json.Unmarshal(predictions["idata.zarr/predictions_constant_data/h/.zarray"], &h); err != nil || h.DType != "<f8" {
		t.Errorf("a category with missing values has type %s, want <f8", h.DType)
	}
}

// checkArviZ checks every group of a store and returns their names.
func checkArviZ(t *testing.T, files map[string][]byte) (groups []string) {
	t.Helper()
	type array struct {
		Shape []int
		Dims  []string `json:"_ARRAY_DIMENSIONS"`
	}
	arrays := map[string]map[string]array{} // by group and name
	for name, raw := range files {
		inside, ok := strings.CutPrefix(name, outputs.ZarrRoot+"/")
		if !ok {
			continue
		}
		if dir, ok := strings.CutSuffix(inside, "/.zgroup"); ok && dir != inside {
			groups = append(groups, dir)
			var attributes map[string]any
			if err := json.Unmarshal(files[outputs.ZarrRoot+"/"+dir+"/.zattrs"], &attributes); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"created_at", "creation_library", "creation_library_version", "creation_library_language", "inference_library", "d3p_report_sha256"} {
				if attributes[key] == nil || attributes[key] == "" {
					t.Errorf("group %s has no %s", dir, key)
				}
			}
		}
		dir, ok := strings.CutSuffix(inside, "/.zarray")
		if !ok {
			continue
		}
		var a array
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(files[outputs.ZarrRoot+"/"+dir+"/.zattrs"], &a); err != nil {
			t.Fatal(err)
		}
		group, variable := path.Split(dir)
		group = strings.TrimSuffix(group, "/")
		if arrays[group] == nil {
			arrays[group] = map[string]array{}
		}
		arrays[group][variable] = a
	}
	for group, variables := range arrays {
		for name, a := range variables {
			if len(a.Dims) == 1 && a.Dims[0] == name {
				continue // a coordinate
			}
			if group != "predictions_constant_data" && !slices.Equal(a.Dims[:min(2, len(a.Dims))], []string{"chain", "draw"}) {
				t.Errorf("%s/%s has dims %v, want chain and draw first", group, name, a.Dims)
			}
			for i, d := range a.Dims {
				if c, ok := variables[d]; !ok || len(c.Shape) != 1 || c.Shape[0] != a.Shape[i] || !slices.Equal(c.Dims, []string{d}) {
					t.Errorf("%s/%s: dim %s of %d has the coordinate %+v", group, name, d, a.Shape[i], c)
				}
			}
		}
	}
	return groups
}
