package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"d3p/internal/jsonfile"
	"d3p/internal/outputs"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/stattest"
	"d3p/internal/status"
	"d3p/internal/verify"
)

// forgery is an alteration of one file, whose hash is mended.
type forgery struct{ file, old, altered string }

// foundForgery is what a check finds, its name and the start of its detail.
type foundForgery struct {
	finds string
	of    []forgery
}

// otherBuild means that another build wrote the release, so that its words are not
// compared.
var otherBuild = forgery{"privacy.json", `"sha256": "`, `"sha256": "f`}

// forgeries and the check that finds each.
var forgeries = []foundForgery{
	{"the claim follows from the event: privacy.json: unknown field|the claim follows from the event: privacy.json: its bytes", []forgery{{"privacy.json", `"epsilon": (0\.99\d+,)`, `"epsilon": 0.01, "Epsilon": $1`}}},
	{"the claim follows from the event: privacy.json: its bytes", []forgery{{"privacy.json", `"delta": 0.00001,`, `"delta": 1e-10, "Delta": 0.00001,`}}},
	{"the claim follows from the event: privacy.json: its bytes", []forgery{{"privacy.json", `"epsilon": (0\.99\d+,)`, `"epsilon": 0.01, "epsilon": $1`}}},
	{"the claim follows from the event: privacy.json: its bytes", []forgery{{"privacy.json", `"entity": "person"`, `"entity": "household", "Entity": "person"`}}},
	{"the claim follows from the event: privacy.json: its bytes", []forgery{{"privacy.json", `"relation": "add_remove"`, `"relation": "zero_out", "Relation": "add_remove"`}}},
	{"the claim follows from the event: privacy.json: .*unknown field", []forgery{{"privacy.json", `"relation"`, `"note": 1, "relation"`}}},
	{"the claim follows from the event: privacy.json: .*more bytes follow", []forgery{{"privacy.json", `\}\n$`, "}\n{}\n"}}},
	{"the claim follows from the event: privacy.json: its bytes", []forgery{{"privacy.json", `^\{`, "{ "}}},
	{"the claim follows from the event: epsilon is between", []forgery{{"privacy.json", `"epsilon": 0\.99\d+,`, `"epsilon": 0.01,`}}},
	{"every number of the report follows from the event", []forgery{{"privacy.json", `"advantage": [-.\de]+`, `"advantage": 0.001`}}},
	{"one event", []forgery{{"dp_event.json", `"noise_multiplier": `, `"noise_multiplier": 1`}}},
	{"one event", []forgery{{"dp_event.json", `^\{`, "{ "}}},
	{"one event", []forgery{{"dp_event.json", `\}\n$`, "}\n\n"}}},
	{"privacy.json follows from spec.lock.yaml: unit", []forgery{{"privacy.json", `"rows_per_unit": 1`, `"rows_per_unit": 9`}}},
	{"privacy.json follows from spec.lock.yaml: preprocessing", []forgery{{"privacy.json", `"lower": -3`, `"lower": -9`}}},
	{"privacy.json follows from spec.lock.yaml: scope", []forgery{{"privacy.json", `is not counted here`, `is counted`}}},
	{"privacy.json follows from spec.lock.yaml: scope", []forgery{{"privacy.json", `one noisy sum`, `no sum`}}},
	{"privacy.json follows from spec.lock.yaml: assumptions", []forgery{{"privacy.json", `"status": "unknown"`, `"status": "holds"`}}},
	{"privacy.json follows from spec.lock.yaml: hazards", []forgery{{"privacy.json", `"status": "open"`, `"status": "mitigated"`}}},
	{"privacy.json follows from spec.lock.yaml: unprotected", []forgery{{"privacy.json", `run time and memory use[^"]*`, `nothing`}}},
	{"privacy.json follows from spec.lock.yaml: utility", []forgery{{"privacy.json", `"b\[x\]": [-.\de]+`, `"b[x]": 0.25`}}},
	{"privacy.json follows from spec.lock.yaml: subject", []forgery{{"privacy.json", `"description": ""`, `"description": "approved"`}}},
	{"privacy.json follows from spec.lock.yaml: unit", []forgery{{"spec.lock.yaml", `entity: person`, `entity: household`}}},
	{"privacy.json follows from spec.lock.yaml: preprocessing", []forgery{{"spec.lock.yaml", `lower: -3`, `lower: -9`}}},
	{"privacy.json follows from spec.lock.yaml: spec.lock.yaml is not the file that d3p writes", []forgery{{"spec.lock.yaml", `d3p: 1`, `d3p: 1 # approved`}}},
	{"privacy.json follows from spec.lock.yaml: setting noise-multiplier", []forgery{{"spec.lock.yaml", `noise-multiplier: \{value: [\d.]+`, `noise-multiplier: {value: 1000`}}},
	{"privacy.json follows from spec.lock.yaml: setting delta", []forgery{{"spec.lock.yaml", `delta: \{value: 0.00001`, `delta: {value: 1e-10`}}},
	{"privacy.json follows from spec.lock.yaml: setting epsilon", []forgery{{"spec.lock.yaml", `epsilon: \{value: 1,`, `epsilon: {value: 0.1,`}}},
	{"privacy.json follows from spec.lock.yaml: setting noise-schedule", []forgery{{"spec.lock.yaml", `noise-schedule: \{value: null`, `noise-schedule: {value: [{"factor":2,"steps":20}]`}}},
	{"privacy.json follows from spec.lock.yaml: setting batch-schedule", []forgery{{"spec.lock.yaml", `batch-schedule: \{value: null`, `batch-schedule: {value: [{"factor":2,"steps":20}]`}}},
	{"privacy.json follows from spec.lock.yaml: setting clip-norm-schedule", []forgery{{"spec.lock.yaml", `clip-norm-schedule: \{value: null`, `clip-norm-schedule: {value: [{"factor":2,"steps":20}]`}}},
	{"privacy.json follows from spec.lock.yaml: setting clip-groups", []forgery{{"spec.lock.yaml", `clip-groups: \{value: null`, `clip-groups: {value: [{"name":"b","ranges":[{"from":0,"to":1}],"share":1}]`}}},
	{"privacy.json follows from spec.lock.yaml: setting neighbours", []forgery{{"spec.lock.yaml", `\n  neighbours: \{value: "add_remove"`, "\n  neighbours: {value: \"zero_out\""}}},
	{"the release follows from its parameters: spec.lock.yaml: the settings are not readable", []forgery{{"spec.lock.yaml", `\n  delta: \{`, "\n  delta: {value: 1e-10, source: \"default\"}\n  delta: {"}}},
	{"privacy.json follows from spec.lock.yaml: .* a line is no setting", []forgery{{"spec.lock.yaml", `settings:\n`, "settings:\n  # approved\n"}}},
	{"privacy.json follows from spec.lock.yaml: .* its bytes are not", []forgery{{"spec.lock.yaml", `delta: \{value: 0.00001`, `delta: {value:  0.00001`}}},
	{"privacy.json follows from spec.lock.yaml: mechanism", []forgery{{"params.json", `"steps": `, `"steps": 1`}}},
	{"privacy.json follows from spec.lock.yaml: params.json", []forgery{{"params.json", `"model": "cohort"`, `"model": "census"`}}},
	{"the release follows from its parameters: params.json", []forgery{{"params.json", `"steps": `, `"Steps": 1, "steps": `}}},
	{"draws.parquet follows from the release", []forgery{{"params.json", `("lambda": \[\s*)[-.\de]+`, `${1}7`}}},
	{"summary.csv follows from the release", []forgery{{"params.json", `("lambda": \[\s*)[-.\de]+`, `${1}7`}}},
	{"summary.csv follows from the release", []forgery{{"summary.csv", `b\[x\]`, `b[y]`}}},
	{"summary.csv follows from the release", []forgery{{"summary.csv", `,[-.\de]+,`, `,12.5,`}}},
	{"privacy.md follows from the release", []forgery{{"privacy.md", `at delta 1e-05`, `at delta 1e-15`}}},
	{"privacy.md follows from the release", []forgery{{"privacy.md", `at most`, `exactly`}}},
	{"README follows from the release", []forgery{{"README", `mean, sd and`, `exact`}}},
	{"privacy.html follows from the release", []forgery{{"privacy.html", `at most`, `exactly`}}},
	{"privacy.html follows from the release", []forgery{{"privacy.html", `</body>`, `<script>alert(1)</script></body>`}}},
	{"idata.zarr/posterior/b/.zattrs follows from the release", []forgery{{"idata.zarr/posterior/b/.zattrs", `ARRAY`, `ARRAYS`}}},
	{"draws.parquet follows from the release", []forgery{{"draws.parquet", `d3p\.claim`, `d3p.Claim`}}},

	// of what another build is said to have written no number is believed, either
	{"draws.parquet follows from the release: .*numbers or names", []forgery{otherBuild, {"params.json", `("lambda": \[\s*)[-.\de]+`, `${1}7`}}},
	{"privacy.md follows from the release: .*numbers or names", []forgery{otherBuild, {"privacy.md", `at delta 1e-05`, `at delta 1e-15`}}},
	{"privacy.html follows from the release: .*numbers or names", []forgery{otherBuild, {"privacy.html", `at delta 1e-05`, `at delta 1e-15`}}},
	{"summary.csv follows from the release: .*numbers or names", []forgery{otherBuild, {"summary.csv", `b\[x\]`, `b[y]`}}},
	{"privacy.json follows from spec.lock.yaml: unit", []forgery{otherBuild, {"privacy.json", `"rows_per_unit": 1`, `"rows_per_unit": 9`}}},
	{"privacy.json follows from spec.lock.yaml: preprocessing", []forgery{otherBuild, {"privacy.json", `"lower": -3`, `"lower": -9`}}},

	{"MANIFEST.json: altered: no release of d3p has a file .corrected.csv", []forgery{{"corrected.csv", ``, `epsilon,0.01`}}},
	{"MANIFEST.json: altered: no release of d3p has a file .*run.exe", []forgery{{"idata/run.exe", ``, `MZ`}}},
}

// forgedChoices are forgeries of a fit that buys Table 1 and a trace.
var forgedChoices = []foundForgery{
	{"privacy.json follows from spec.lock.yaml: table 1: counts", []forgery{{"privacy.json", `("table 1: counts",\s+"noise": )[.\d]+`, `${1}17.5`}}},
	{"privacy.json follows from spec.lock.yaml: table 1: counts", []forgery{otherBuild, {"privacy.json", `("table 1: counts",\s+"noise": )[.\d]+`, `${1}17.5`}}},
	{"privacy.json follows from spec.lock.yaml: table 1: correlations", []forgery{{"privacy.json", `("table 1: correlations",\s+"noise": )[.\d]+`, `${1}17.5`}}},
	{"privacy.json follows from spec.lock.yaml: Table 1", []forgery{{"privacy.json", `("table 1: correlations",\s+"noise": [.\d]+,\s+"bound": )[.\d]+`, `${1}17.5`}}},
	{"privacy.json follows from spec.lock.yaml: the share of Table 1", []forgery{otherBuild, {"privacy.json", `"share": 0\.[\d]+`, `"share": 0.01`}}},
	{"privacy.json follows from spec.lock.yaml: the trace", []forgery{{"privacy.json", `"loss_unit": [.\d]+`, `"loss_unit": 7.5`}, {"spec.lock.yaml", `"loss_unit":[.\d]+`, `"loss_unit":7.5`}}},
	{"privacy.json follows from spec.lock.yaml: setting trace", []forgery{otherBuild, {"privacy.json", `"loss_unit": [.\d]+`, `"loss_unit": 7.5`}}},
	{"privacy.json follows from spec.lock.yaml: setting clip-norm", []forgery{otherBuild, {"privacy.json", `"norm": `, `"norm": 1`}}},
	{"privacy.json follows from spec.lock.yaml: setting clipping", []forgery{otherBuild, {"privacy.json", `"mode": "flat"`, `"mode": "soft"`}}},
	{"privacy.json follows from spec.lock.yaml: setting gradient", []forgery{otherBuild, {"privacy.json", `"released_per_step": `, `"released_per_step": 1`}}},
	{"privacy.json follows from spec.lock.yaml: utility", []forgery{{"privacy.json", `"noise_to_signal": [.\d]+`, `"noise_to_signal": 0.001`}}},
	{"privacy.json follows from spec.lock.yaml: the ridge", []forgery{{"privacy.json", `"count_noise": 0,`, "\"count_noise\": 0,\n    \"ridge\": 2,"}}},
}

// forge alters a file of a release and mends the manifest.
func forge(t *testing.T, dir string, f forgery) {
	t.Helper()
	path := filepath.Join(dir, f.file)
	truth, err := os.ReadFile(path)
	if err != nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old := regexp.MustCompile(f.old)
	at := old.FindSubmatchIndex(truth)
	if at == nil {
		t.Fatalf("%s does not hold %s", f.file, f.old)
	}
	altered := append(slices.Clone(truth[:at[0]]), old.Expand(nil, []byte(f.altered), truth, at)...)
	altered = append(altered, truth[at[1]:]...)
	if err := os.WriteFile(path, altered, 0o644); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, release.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsonfile.Read[release.Manifest](raw)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(altered)
	entry := release.Entry{Path: f.file, Bytes: int64(len(altered)), SHA256: hex.EncodeToString(sum[:]), Covered: f.file != report.LockName}
	if i := slices.IndexFunc(m.Files, func(e release.Entry) bool { return e.Path == f.file }); i >= 0 {
		m.Files[i] = entry
	} else {
		m.Files = append(m.Files, entry)
	}
	var text bytes.Buffer
	if err := jsonfile.Write(&text, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, release.ManifestName), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// verifyJSON runs d3p verify and returns the checks that fail.
func verifyJSON(t *testing.T, args ...string) (failed []string, exit int) {
	t.Helper()
	var out, errs bytes.Buffer
	exit = (&app{out: &out, err: &errs}).run(t.Context(), append([]string{"verify", "--json"}, args...))
	var checks []verify.Check
	if err := json.Unmarshal(out.Bytes(), &checks); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	return failed, exit
}

// smallRun fits a small model and returns the folder of the run.
func smallRun(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	model := `d3p: 1
name: cohort
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 60}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}, source: expert}
    y: {type: binary, levels: ["0", "1"]}
model: {formula: y ~ 1 + x, family: bernoulli}
privacy: {neighbours: add_remove}
`
	rows := bytes.NewBufferString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(rows, "%g,%d\n", float64(i%7)/3-1, i%2)
	}
	data := filepath.Join(dir, "cohort.csv")
	if err := os.WriteFile(data, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cohort.yaml"), []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	var out, errs bytes.Buffer
	args := append([]string{"fit", "--quiet", "--epsilon", "1", "--delta", "1e-5", "--steps", "5", "--draws", "20", "--out", run}, flags...)
	if exit := (&app{out: &out, err: &errs}).run(t.Context(), append(args, data)); exit != 0 {
		t.Fatalf("exit status %d: %s", exit, errs.String())
	}
	return run
}

// Whoever alters a release and mends its hashes is found by the check that is named.
func TestForgeries(t *testing.T) {
	stattest.SkipNumerics(t)
	findForgeries(t, filepath.Join(smallRun(t), "release"), forgeries)
}

// Whoever alters what a fit bought or chose is found, too.
func TestForgedChoices(t *testing.T) {
	stattest.SkipNumerics(t)
	findForgeries(t, filepath.Join(smallRun(t, "--table1", "0.2", "--trace", "loss", "--clip-norm", "0.7"), "release"), forgedChoices)
}

// findForgeries forges an honest release and checks what is found.
func findForgeries(t *testing.T, honest string, list []foundForgery) {
	t.Helper()
	if failed, exit := verifyJSON(t, honest); exit != 0 {
		t.Fatalf("an honest release: %v", failed)
	}
	for _, c := range list {
		dir := filepath.Join(t.TempDir(), "release")
		if err := os.CopyFS(dir, os.DirFS(honest)); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.of {
			forge(t, dir, f)
		}
		failed, exit := verifyJSON(t, dir)
		found := slices.ContainsFunc(failed, func(line string) bool {
			match, err := regexp.MatchString("^("+c.finds+")", line)
			return match && err == nil
		})
		if exit != int(status.Data) || !found {
			t.Errorf("%+v: exit status %d, want %q among\n%s", c.of, exit, c.finds, strings.Join(failed, "\n"))
		}
	}
}

// A signal ends a command that has nothing to finish, and not a fit, which stops
// between two steps.
func TestSignalEndsCommands(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck, started := make(chan bool), make(chan bool)
	for _, fits := range []bool{false, true} {
		a := &app{out: io.Discard, err: io.Discard}
		c := &cobra.Command{RunE: func(c *cobra.Command, _ []string) error {
			if fits {
				return a.stopItself(c.Context())
			}
			close(started)
			<-stuck
			return nil
		}}
		c.SetArgs(nil)
		if !fits {
			go func() { <-started; cancel() }()
		}
		if err := a.interruptible(ctx, c); status.Of(err) != status.Interrupted {
			t.Errorf("fits %v: %v", fits, err)
		}
	}
	close(stuck)
}

// Two draws have no fourth moment worth a name; the result is JSON all the same.
func TestResultOfTwoDrawsIsJSON(t *testing.T) {
	run := smallRun(t, "--draws", "2")
	var out, errs bytes.Buffer
	if exit := (&app{out: &out, err: &errs}).run(t.Context(), []string{"summary", "--json", run}); exit != 0 || !json.Valid(out.Bytes()) {
		t.Errorf("exit status %d: %s%s", exit, out.String(), errs.String())
	}
	out.Reset()
	nan := outputs.Summary{Variable: "x", Mean: math.NaN(), SD: math.Inf(1)}
	if err := (&app{out: &out, json: true}).result([]outputs.Summary{nan}, nil); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v: %s", err, out.String())
	}
}

// Every command refuses a release whose manifest names what no release has, or another case
// of what it has.
func TestNamesOfAReleaseAreKnown(t *testing.T) {
	honest := filepath.Join(smallRun(t), "release")
	for name, alter := range map[string]func(dir string){
		"honest":       func(string) {},
		"another file": func(dir string) { forge(t, dir, forgery{"corrected.csv", ``, `epsilon,0.01`}) },
		"another case": func(dir string) {
			for _, path := range []string{"README", release.ManifestName} {
				raw, err := os.ReadFile(filepath.Join(dir, path))
				if err != nil {
					t.Fatal(err)
				}
				os.Remove(filepath.Join(dir, path))
				raw = bytes.ReplaceAll(raw, []byte(`"README"`), []byte(`"Readme"`))
				if err := os.WriteFile(filepath.Join(dir, strings.Replace(path, "README", "Readme", 1)), raw, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		dir := filepath.Join(t.TempDir(), "release")
		if err := os.CopyFS(dir, os.DirFS(honest)); err != nil {
			t.Fatal(err)
		}
		alter(dir)
		var out, errs bytes.Buffer
		exit := (&app{out: &out, err: &errs}).run(t.Context(), []string{"summary", dir})
		if refused := exit != 0 && out.Len() == 0 && strings.Contains(errs.String(), "no release of d3p has a file"); refused != (name != "honest") {
			t.Errorf("%s: exit status %d, %s", name, exit, errs.String())
		}
	}
}
