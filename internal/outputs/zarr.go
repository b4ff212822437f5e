package outputs

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"d3p/internal/release"
)

// ZarrRoot is the folder of the ArviZ data: Zarr format 2, uncompressed, one
// chunk per array, groups as in the ArviZ schema. Only groups that do not
// depend on records are written: no observed_data, no log_likelihood.
const ZarrRoot = "idata.zarr"

// zarrFiles are the files of idata.zarr.
func zarrFiles(s *Sample) []release.File {
	z := &zarr{sample: s, metadata: map[string]any{}}
	z.group("", map[string]any{"name": s.Model})
	z.draws("posterior", s.Draws)
	if s.Prior != nil {
		z.draws("prior", *s.Prior)
	}
	if s.Simulated != nil {
		z.tables("prior_predictive", "record", s.Simulated)
	}
	if s.Draws.Free != nil {
		z.unconstrained("unconstrained_posterior", s.Draws)
	}
	if s.Draws.LogQ != nil {
		z.group("sample_stats", map[string]any{"sample_dims": sampleDims()})
		z.chains("sample_stats", s.Draws.S)
		z.floats("sample_stats", "log_q", []int{1, s.Draws.S}, sampleDims(), s.Draws.LogQ)
	}
	return z.finished()
}

// PredictionFiles are the files of an idata.zarr with the groups of predictions
// for new rows: predicted are draws for each row, given the new rows themselves.
func PredictionFiles(s *Sample, predicted, given *Tables) []release.File {
	z := &zarr{sample: s, metadata: map[string]any{}}
	z.group("", map[string]any{"name": s.Model})
	z.tables("predictions", predictionRows, predicted)
	const group = "predictions_constant_data"
	z.group(group, map[string]any{})
	z.count(group, predictionRows, given.N)
	for i := range given.Columns {
		z.column(group, &given.Columns[i], []int{given.N}, []string{predictionRows}, predictionRows)
	}
	return z.finished()
}

// predictionRows is ArviZ's dim of new rows.
const predictionRows = "pred_id"

// finished are all files, with the metadata of all in one.
func (z *zarr) finished() []release.File {
	return append(z.files, release.JSONFile(path.Join(ZarrRoot, ".zmetadata"), true,
		map[string]any{"zarr_consolidated_format": 1, "metadata": z.metadata}))
}

// sampleDims are the dimensions of an array of scalars.
func sampleDims() []string { return []string{"chain", "draw"} }

type zarr struct {
	sample   *Sample
	files    []release.File
	metadata map[string]any // of every group and array, for .zmetadata
}

// draws writes a group with one array per parameter or quantity.
func (z *zarr) draws(group string, d Draws) {
	z.group(group, map[string]any{"sample_dims": sampleDims()})
	z.chains(group, d.S)
	known := map[string]bool{}
	for _, g := range d.Groups {
		shape, dims := []int{1, d.S}, sampleDims()
		for _, dim := range g.Dims {
			name := z.dim(dim.Name)
			if !known[name] {
				known[name] = true
				z.labels(group, name, dim.Labels)
			}
			shape, dims = append(shape, len(dim.Labels)), append(dims, name)
		}
		z.array(group, g.Name, shape, dims, "<f8", "NaN", func(w io.Writer) error { return writeGroup(w, d, g) })
	}
}

// unconstrained writes the draws in the space of the guide, as one array.
func (z *zarr) unconstrained(group string, d Draws) {
	z.group(group, map[string]any{"sample_dims": sampleDims()})
	z.chains(group, d.S)
	z.labels(group, "element", d.Names)
	z.floats(group, "theta", []int{1, d.S, len(d.Names)}, []string{"chain", "draw", "element"}, d.Free)
}

// chains writes the coordinates of the draws: one chain.
func (z *zarr) chains(group string, s int) {
	z.count(group, "chain", 1)
	z.count(group, "draw", s)
}

// count writes a coordinate 0, 1, ..., n-1.
func (z *zarr) count(group, name string, n int) {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(i)
	}
	z.ints(group, name, x)
}

// meta adds a metadata file and its copy in .zmetadata.
func (z *zarr) meta(name string, v any) {
	z.files = append(z.files, release.JSONFile(path.Join(ZarrRoot, name), true, v))
	z.metadata[name] = v
}

// group writes a group with the attributes that ArviZ recommends.
func (z *zarr) group(name string, attributes map[string]any) {
	z.meta(path.Join(name, ".zgroup"), map[string]any{"zarr_format": 2})
	attributes["created_at"] = z.sample.Created.UTC().Format(time.RFC3339)
	attributes["creation_library"] = "d3p"
	attributes["creation_library_version"] = z.sample.Version
	attributes["creation_library_language"] = "Go"
	attributes["inference_library"] = "d3p"
	attributes["inference_library_version"] = z.sample.Version
	attributes["d3p_privacy_report"] = "../privacy.json"
	attributes["d3p_report_sha256"] = z.sample.Report
	attributes["privacy"] = z.sample.Claim
	z.meta(path.Join(name, ".zattrs"), attributes)
}

// array writes an array whose dims are its only attribute.
func (z *zarr) array(group, name string, shape []int, dims []string, dtype string, fill any, write func(io.Writer) error) {
	z.arrayWith(group, name, shape, map[string]any{"_ARRAY_DIMENSIONS": dims}, dtype, fill, write)
}

// arrayWith writes the metadata of an array and its only chunk.
func (z *zarr) arrayWith(group, name string, shape []int, attributes map[string]any, dtype string, fill any, write func(io.Writer) error) {
	at := path.Join(group, name)
	z.meta(path.Join(at, ".zarray"), map[string]any{
		"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": "C",
		"compressor": nil, "filters": nil, "fill_value": fill,
	})
	z.meta(path.Join(at, ".zattrs"), attributes)
	chunk := strings.TrimSuffix(strings.Repeat("0.", len(shape)), ".")
	z.files = append(z.files, release.File{Name: path.Join(ZarrRoot, at, chunk), Covered: true, Write: write})
}

// ints writes a coordinate of whole numbers. It has no fill value: xarray would
// take a fill value of 0 for "missing".
func (z *zarr) ints(group, name string, x []int64) {
	z.array(group, name, []int{len(x)}, []string{name}, "<i8", nil, func(w io.Writer) error {
		return binary.Write(w, binary.LittleEndian, x)
	})
}

// labels writes a coordinate of text: numpy's <U, padded UTF-32.
func (z *zarr) labels(group, name string, labels []string) {
	longest := 1
	for _, l := range labels {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	z.array(group, name, []int{len(labels)}, []string{name}, fmt.Sprintf("<U%d", longest), nil, func(w io.Writer) error {
		for _, l := range labels {
			padded := make([]rune, longest)
			copy(padded, []rune(l))
			if err := binary.Write(w, binary.LittleEndian, padded); err != nil {
				return err
			}
		}
		return nil
	})
}

// floats writes an array whose values are in memory in its order.
func (z *zarr) floats(group, name string, shape []int, dims []string, x []float64) {
	z.array(group, name, shape, dims, "<f8", "NaN", func(w io.Writer) error {
		return binary.Write(w, binary.LittleEndian, x)
	})
}

// writeGroup writes the draws of a parameter: (chain, draw, its dims).
func writeGroup(w io.Writer, d Draws, g Group) error {
	buf := make([]byte, 8*g.Size)
	for s := range d.S {
		for e := range g.Size {
			binary.LittleEndian.PutUint64(buf[8*e:], math.Float64bits(d.Of(g.First + e)[s]))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// dim is the name of a dimension: xarray wants the dims of an array to differ,
// and none to be called like a variable.
func (z *zarr) dim(name string) string {
	name = strings.ReplaceAll(name, "'", "_2")
	for _, g := range z.sample.Draws.Groups {
		if g.Name == name {
			return name + "_dim"
		}
	}
	return name
}
