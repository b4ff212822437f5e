package outputs_test

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/outputs"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/settings"
)

// allFormats is the release of a finished run with every format.
func allFormats(t *testing.T) (*report.Run, map[string][]byte) {
	t.Helper()
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	run.Formats = settings.FormatNames()
	return run, reporttest.Contents(t, run)
}

func TestCSVDraws(t *testing.T) {
	run, files := allFormats(t)
	rows, err := csv.NewReader(strings.NewReader(string(files["draws.csv"]))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != run.Draws.S+1 || rows[0][3] != "Intercept" || rows[2][2] != "2" {
		t.Fatalf("%d rows, header %v", len(rows), rows[0])
	}
	for v := range run.Draws.Variables {
		x, err := strconv.ParseFloat(rows[5][3+v], 64)
		if err != nil || math.Abs(x-run.Draws.Of(v)[4]) > 1e-7*math.Abs(x) {
			t.Errorf("%s of draw 5 is %s, want %g", rows[0][3+v], rows[5][3+v], run.Draws.Of(v)[4])
		}
	}
	long := strings.Split(strings.TrimSuffix(string(files["draws_long.csv"]), "\n"), "\n")
	if want := 1 + run.Draws.S*len(run.Draws.Variables); len(long) != want {
		t.Errorf("%d lines of draws_long.csv, want %d", len(long), want)
	}
	if last, prefix := long[len(long)-1], fmt.Sprintf("%d,%s,", run.Draws.S, outputs.Quoted(run.Draws.Variables[len(run.Draws.Variables)-1].Name)); !strings.HasPrefix(last, prefix) {
		t.Errorf("the last line of draws_long.csv is %s, want draw, variable %s", last, prefix)
	}
}

// The rules of CmdStan's variational output: the keys that cmdstanpy raises
// without, three log columns first and 0, then the mean, then the draws.
func TestStanDraws(t *testing.T) {
	run, files := allFormats(t)
	var comments, rows []string
	for _, line := range strings.Split(strings.TrimSpace(string(files["draws.stan.csv"])), "\n") {
		if strings.HasPrefix(line, "#") {
			comments = append(comments, line)
		} else {
			rows = append(rows, line)
		}
	}
	for _, key := range []string{"stan_version_major", "model", "method", "algorithm", "iter", "grad_samples", "elbo_samples", "eta", "tol_rel_obj", "eval_elbo", "output_samples"} {
		if !strings.Contains(strings.Join(comments, "\n"), "# "+key+" =") && !strings.Contains(strings.Join(comments, "\n"), " "+key+" =") {
			t.Errorf("no key %s", key)
		}
	}
	if last := comments[len(comments)-2:]; last[0] != "# Stepsize adaptation complete." || last[1] != "# eta = 1" {
		t.Errorf("the comments end with %q, not as those of CmdStan", last)
	}
	header := strings.Split(rows[0], ",")
	if strings.Join(header[:6], ",") != "lp__,log_p__,log_g__,Intercept,b.1,b.2" {
		t.Errorf("header %v", header[:6])
	}
	if len(rows) != 2+run.Draws.S {
		t.Errorf("%d rows, want a header, the mean and %d draws", len(rows), run.Draws.S)
	}
	for _, row := range rows[1:] {
		if !strings.HasPrefix(row, "0,0,0,") || strings.Count(row, ",") != len(header)-1 {
			t.Fatalf("row %s", row)
		}
	}
	mean, err := strconv.ParseFloat(strings.Split(rows[1], ",")[4], 64)
	if err != nil || math.Abs(mean-run.Draws.Center[1]) > 1e-7 {
		t.Errorf("mean of b.1 is %g, want %g", mean, run.Draws.Center[1])
	}
}

// The store must be what a Zarr reader expects: every array has metadata, one
// chunk of shape times item size bytes, and a copy in .zmetadata.
func TestZarr(t *testing.T) {
	run, files := allFormats(t)
	var consolidated struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(files["idata.zarr/.zmetadata"], &consolidated); err != nil {
		t.Fatal(err)
	}
	arrays := 0
	for name, raw := range files {
		inside, ok := strings.CutPrefix(name, "idata.zarr/")
		if !ok || inside == ".zmetadata" {
			continue
		}
		dir, isArray := strings.CutSuffix(inside, "/.zarray")
		if strings.Contains(inside, ".z") && consolidated.Metadata[inside] == nil {
			t.Errorf("%s is not in .zmetadata", inside)
		}
		if !isArray {
			continue
		}
		arrays++
		var a struct {
			Shape []int
			Dtype string
			Fill  any `json:"fill_value"`
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		width, chunk := 8, strings.TrimSuffix(strings.Repeat("0.", len(a.Shape)), ".")
		if letters, ok := strings.CutPrefix(a.Dtype, "<U"); ok {
			n, _ := strconv.Atoi(letters)
			width = 4 * n
		}
		for _, n := range a.Shape {
			width *= n
		}
		if a.Fill != nil && a.Dtype != "<f8" { // xarray reads it as "missing"
			t.Errorf("%s has fill value %v", dir, a.Fill)
		}
		if got := len(files["idata.zarr/"+dir+"/"+chunk]); got != width {
			t.Errorf("%s: chunk of %d bytes, want %d", dir, got, width)
		}
	}
	if want := len(run.Draws.Groups) + 2; arrays < want {
		t.Errorf("%d arrays, want the coordinates and %d parameters", arrays, len(run.Draws.Groups))
	}
	for _, group := range []string{"posterior", "prior", "prior_predictive", "unconstrained_posterior", "sample_stats"} {
		if files["idata.zarr/"+group+"/.zgroup"] == nil || files["idata.zarr/"+group+"/draw/.zarray"] == nil {
			t.Errorf("no group %s with draws", group)
		}
	}
	for name := range files {
		for _, private := range []string{"observed_data", "constant_data", "log_likelihood", "posterior_predictive", "log_lik"} {
			if strings.Contains(name, private) {
				t.Errorf("%s depends on records", name)
			}
		}
	}
	raw := files["idata.zarr/posterior/b/0.0.0"]
	size := run.Draws.Groups[1].Size
	for s := range run.Draws.S {
		for e := range size {
			got := math.Float64frombits(binary.LittleEndian.Uint64(raw[8*(s*size+e):]))
			if got != run.Draws.Of(run.Draws.Groups[1].First + e)[s] {
				t.Fatalf("b, draw %d, element %d: %g", s, e, got)
			}
		}
	}
}

// log_q is the density of the draws under independent normals: the mean of
// -log_q over draws is the entropy, sum (1 + log(2 pi s^2))/2, within 6.5
// standard errors (of variance P/2), so P < 1e-10 by chance.
func TestLogQ(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	latent := len(run.Posterior.Mean)
	sd := make([]float64, latent)
	run.Posterior.SD(sd)
	want, got := 0.0, 0.0
	for _, s := range sd {
		want += (1 + math.Log(2*math.Pi*s*s)) / 2
	}
	for _, q := range run.Draws.LogQ {
		got -= q / float64(run.Draws.S)
	}
	if bound := 6.5 * math.Sqrt(float64(latent)/2/float64(run.Draws.S)); math.Abs(got-want) > bound {
		t.Errorf("mean of -log_q %g, want the entropy %g within %g", got, want, bound)
	}
}
