package privacy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/stattest"
)

func TestCuratorRefuses(t *testing.T) {
	for name, change := range map[string]func(*privacy.CuratorConfig){
		"epsilon zero":     func(c *privacy.CuratorConfig) { c.Budget.Epsilon = 0 },
		"epsilon negative": func(c *privacy.CuratorConfig) { c.Budget.Epsilon = -1 },
		"epsilon NaN":      func(c *privacy.CuratorConfig) { c.Budget.Epsilon = math.NaN() },
		"delta zero":       func(c *privacy.CuratorConfig) { c.Budget.Delta = 0 },
		"delta one":        func(c *privacy.CuratorConfig) { c.Budget.Delta = 1 },
		"delta NaN":        func(c *privacy.CuratorConfig) { c.Budget.Delta = math.NaN() },
		"relation":         func(c *privacy.CuratorConfig) { c.Relation = "neighbours" },
		"another relation spent": func(c *privacy.CuratorConfig) {
			c.Spent = privacy.Ledger{Relation: event.Substitute}
		},
		"no file": func(c *privacy.CuratorConfig) { c.Table = tableAt("gone.csv") },
	} {
		cfg := config(t, &fakeEngine{})
		change(&cfg)
		if _, err := privacy.NewCurator(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A file of more records than memory holds is refused by its line count.
func TestTableLargerThanMemory(t *testing.T) {
	cfg := config(t, &fakeEngine{})
	table := privacy.TableConfig{
		Data: writeFile(t, "data.csv", "a,b,y\n"+strings.Repeat("1,2,0\n", 1000)), Encoding: fakeEncoding(), MaxMemory: 1000*3*8 - 1, Root: noise.Insecure(1),
	}
	cfg.Table = privacy.NewTable(table)
	_, err := privacy.NewCurator(cfg)
	mustContain(t, err, "data.csv", "does not fit", "float32")
	table.MaxMemory = 1100 * 3 * 8
	cfg.Table = privacy.NewTable(table)
	newCurator(t, cfg)
}

// The effects of rules on records, and the places where a file is malformed, go to
// private/ only, readable by the owner alone.
func TestDataCheckIsPrivate(t *testing.T) {
	for name, text := range map[string]string{
		"rules":     "a,b,y\n1,x,0\n9,2,1\n",
		"malformed": "a,b,y\n1,2,0\n1,2\n",
	} {
		cfg := config(t, &fakeEngine{})
		cfg.Table = tableAt(writeFile(t, "data.csv", text))
		cfg.Private = privateFolder(t)
		_, err := privacy.NewCurator(cfg)
		if err != nil {
			t.Fatalf("%s: error %v", name, err)
		}
		path := filepath.Join(cfg.Private.Name(), "datacheck.json")
		var check struct {
			Privacy   string
			Rejected  int `json:"rejected_records"`
			Malformed struct {
				Rows int
				Line int `json:"first_line"`
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &check); err != nil {
			t.Fatal(err)
		}
		if check.Privacy != "NOT_PROTECTED" || name == "rules" && check.Rejected != 1 || name == "malformed" && (check.Malformed.Line != 3 || check.Malformed.Rows != 1) {
			t.Errorf("%s: the check says %s", name, data)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600 (%v)", path, info.Mode(), err)
		}
	}
}

// privateFolder is a folder for private files.
func privateFolder(t *testing.T) *os.Root {
	t.Helper()
	folder, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return folder
}

// A link or an open file that somebody put in the place of the data check is
// replaced: what it leads to keeps its content.
func TestDataCheckFollowsNoLink(t *testing.T) {
	target := writeFile(t, "target", "untouched")
	for name, plant := range map[string]func(at string) error{
		"link":      func(at string) error { return os.Symlink(target, at) },
		"hard link": func(at string) error { return os.Link(target, at) },
		"open file": func(at string) error { return errors.Join(os.WriteFile(at, nil, 0o666), os.Chmod(at, 0o666)) },
	} {
		cfg := config(t, &fakeEngine{})
		cfg.Table = tableAt(writeFile(t, "data.csv", "a,b,y\n1,x,0\n"))
		cfg.Private = privateFolder(t)
		path := filepath.Join(cfg.Private.Name(), privacy.DataCheckName)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		newCurator(t, cfg)
		if got, err := os.ReadFile(target); err != nil || string(got) != "untouched" {
			t.Errorf("%s: the target holds %q (%v)", name, got, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v (%v), want a regular file of mode 0600", name, info.Mode(), err)
		}
	}
}

// Whatever is wrong with a file, no error quotes a cell, and none is about what stands
// behind the header line: copies of a table full of canaries are damaged there or in
// the header, and the messages searched.
func TestErrorsQuoteNoCell(t *testing.T) {
	const canary, header = "31415.92653", "a,b,y\n"
	clean := header + strings.Repeat(canary+","+canary+",0\n\""+canary+"\","+canary+",1\n", 20)
	rng := rand.New(rand.NewPCG(6, 28))
	cfg := config(t, &fakeEngine{})
	cfg.Private = privateFolder(t)
	path := filepath.Join(t.TempDir(), "data.csv")
	failed := 0
	for k := range 500 {
		text, inHeader := []byte(clean), k%5 == 0
		for range 1 + rng.IntN(4) {
			at := len(header) + rng.IntN(len(text)-len(header))
			if inHeader {
				at = rng.IntN(len(header))
			}
			text[at] = "\",\n\r\x00PAx9\xff"[rng.IntN(10)]
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg.Table = tableAt(path)
		if _, err := privacy.NewCurator(cfg); err != nil {
			failed++
			said := strings.ReplaceAll(err.Error(), path, "") // a folder's name is of random digits
			if strings.Contains(said, "31415") || strings.Contains(said, "92653") {
				t.Fatalf("error %q quotes a cell", err)
			}
			if !inHeader || errors.As(err, new(*fs.PathError)) {
				t.Fatalf("unexpected error %v", err)
			}
		}
	}
	if failed < 50 {
		t.Errorf("only %d of 100 damaged headers failed: the test tests little", failed)
	}
}

// A step allocates nothing once the batch has had its size.
func TestStepAllocatesNothing(t *testing.T) {
	cfg := config(t, cpu.New(cpu.Options{Threads: 1}))
	cfg.Budget.Epsilon = 1e4
	for _, sampling := range []sampler.Config{{Scheme: "full"}, {Scheme: "poisson", Rate: 0.99}} {
		m := mechanism(t, 5000)
		m.Sampler = sampling
		s := begin(t, newCurator(t, cfg), m)
		dst := make([]float64, 2)
		req := privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 0.2}
		step := func() {
			if _, err := s.Step(dst, req); err != nil {
				t.Fatal(err)
			}
		}
		for range 200 {
			step()
		}
		if allocs := testing.AllocsPerRun(1000, step); allocs != 0 {
			t.Errorf("%s: %g allocations per step", sampling.Scheme, allocs)
		}
	}
}

// The whole way on the CPU: CSV, encoding, sampling, gradients, clipping, noise.
// The mean over many steps is the mean clipped sum, q times that of all records.
// The variance is bounded from above, so a check fails by chance with probability
// at most stattest.Alpha.
func TestStepOnTheCPU(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	rng := rand.New(rand.NewPCG(1, 2))
	const records, steps, rate = 200, 4000, 0.3
	want := [2]float64{}
	for range records {
		a, b, y := rng.NormFloat64()/2, rng.NormFloat64()/2, rng.IntN(2)
		fmt.Fprintf(&text, "%.17g,%.17g,%d\n", a, b, y)
		g := [2]float64{(float64(y) - 0.5) * a, (float64(y) - 0.5) * b} // at θ = 0
		if n := math.Hypot(g[0], g[1]); n > 0.2 {
			g[0], g[1] = g[0]*0.2/n, g[1]*0.2/n
		}
		want[0], want[1] = want[0]+g[0], want[1]+g[1]
	}
	text.WriteString("NA,1,0\n1,,1\nnonsense,1,1\n") // rejected: they contribute zero

	cfg := config(t, cpu.New(cpu.Options{Threads: 1}))
	cfg.Table = tableAt(writeFile(t, "data.csv", text.String()))
	cfg.Root = noise.Insecure(12)
	cfg.Budget.Epsilon = 1e4
	m := mechanism(t, steps)
	m.Sampler = sampler.Config{Scheme: "poisson", Rate: rate}
	m.GradientNoise, m.CountNoise = 2, 0
	s := begin(t, newCurator(t, cfg), m)
	sums := [2]float64{}
	dst := make([]float64, 2)
	req := privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 0.2}
	for range steps {
		if _, err := s.Step(dst, req); err != nil {
			t.Fatal(err)
		}
		sums[0], sums[1] = sums[0]+dst[0], sums[1]+dst[1]
	}
	for i := range sums {
		// variance of one step: noise (2·0.2)², sampling at most N·q·(1-q)·0.2²
		sd := math.Sqrt(steps * (0.16 + records*rate*(1-rate)*0.04))
		stattest.Require(t, fmt.Sprintf("mean of sum[%d]", i), stattest.Normal((sums[i]-steps*rate*want[i])/sd))
	}
}
