package flags

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"d3p/internal/cluster"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/spec"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// parse resolves settings as a fit does, from args, environ, a config file and
// a model file (each may be empty).
func parse(t *testing.T, args, environ []string, config, model string) (*Settings, error) {
	t.Helper()
	s, _, err := parseNoting(t, args, environ, config, model)
	return s, err
}

// parseNoting is parse with the notes that were printed.
func parseNoting(t *testing.T, args, environ []string, config, model string) (*Settings, string, error) {
	t.Helper()
	return parseTaking(t, []settings.Group{settings.Algorithm, settings.Price, settings.Running}, args, environ, config, model)
}

// parseTaking is parseNoting by a command with the settings of the groups.
func parseTaking(t *testing.T, groups []settings.Group, args, environ []string, config, model string) (*Settings, string, error) {
	t.Helper()
	if config != "" {
		path := modelstest.File(t, "run.toml", config)
		args = append(slices.Clone(args), "--config", path)
	}
	var notes strings.Builder
	notef := func(format string, args ...any) { fmt.Fprintf(&notes, format+"\n", args...) }
	var s *Settings
	var result error
	c := &cobra.Command{Use: "test", SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, _ []string) error {
		if result = s.Resolve(c, Environment{environ, notef}); result != nil || model == "" {
			return nil
		}
		m, errs := spec.Parse("m.yaml", []byte(model), nil)
		if len(errs) > 0 {
			result = errs
			return nil
		}
		for _, w := range m.Warnings {
			notef("%v", w)
		}
		result = s.ResolveModel(c, m)
		return nil
	}}
	AcceptOldNames(c, notef)
	s = Define(c, groups...)
	c.SetArgs(args)
	if err := c.Execute(); err != nil {
		return s, notes.String(), err
	}
	return s, notes.String(), result
}

const settingsModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1
  family: bernoulli
fit: {steps: 11, averaging: 0, clip_norm: 7}
privacy:
  epsilon: 8
  neighbours: add_remove
`

// A flag beats a variable beats the config file beats the model file beats the
// default, and the winner is recorded.
func TestPrecedence(t *testing.T) {
	flag := []string{"--epsilon", "1"}
	environ := []string{"D3P_EPSILON=2"}
	config := "epsilon = 4\n"
	for _, c := range []struct {
		args, environ []string
		config, model string
		want          float64
		source        string
	}{
		{flag, environ, config, settingsModel, 1, "--epsilon"},
		{nil, environ, config, settingsModel, 2, "D3P_EPSILON"},
		{nil, nil, config, settingsModel, 4, "run.toml: epsilon"},
		{nil, nil, "", settingsModel, 8, "m.yaml:12:12"},
		{nil, nil, "", "", 0, "default"},
	} {
		s, err := parse(t, c.args, c.environ, c.config, c.model)
		if err != nil {
			t.Fatal(err)
		}
		if s.Fit.Epsilon != c.want || s.Sources["epsilon"] != c.source {
			t.Errorf("epsilon %g from %s, want %g from %s", s.Fit.Epsilon, s.Sources["epsilon"], c.want, c.source)
		}
		if s.Given("epsilon") != (c.want != 0) {
			t.Errorf("given(epsilon) = %v for %g", s.Given("epsilon"), c.want)
		}
	}
}

// A stronger source replaces the other form of a setting too.
func TestPrecedenceOfTheSameMeaning(t *testing.T) {
	for _, c := range []struct {
		args      []string
		config    string
		steps     int
		epochs    float64
		rate      float64
		batch     int
		stepsFrom string
	}{
		{[]string{"--epochs", "3"}, "", 0, 3, 0, 0, "default"},
		{nil, "epochs = 2\nbatch-size = 5\n", 0, 2, 0, 5, "default"},
		{[]string{"--sampling-rate", "0.5"}, "batch-size = 5\nsteps = 9\n", 9, 0, 0.5, 0, "run.toml: steps"},
	} {
		s, err := parse(t, c.args, nil, c.config, settingsModel)
		if err != nil {
			t.Fatal(err)
		}
		f := s.Fit
		if f.Steps != c.steps || f.Epochs != c.epochs || f.SamplingRate != c.rate || f.BatchSize != c.batch || s.Sources["steps"] != c.stepsFrom {
			t.Errorf("%q %q: steps %d (%s), epochs %g, rate %g, batch %d", c.args, c.config, f.Steps, s.Sources["steps"], f.Epochs, f.SamplingRate, f.BatchSize)
		}
	}
}

func TestModelFileSettings(t *testing.T) {
	s, err := parse(t, nil, nil, "", settingsModel)
	if err != nil {
		t.Fatal(err)
	}
	if s.Fit.Steps != 11 || s.Fit.ClipNorm != 7 || s.Fit.Averaging == nil || *s.Fit.Averaging != 0 || s.Fit.Neighbours != "add_remove" || s.Fit.Records != 1000 {
		t.Errorf("settings of the model file: %+v", s.Fit)
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		args, environ []string
		config, want  string
	}{
		{[]string{"--epsilon", "-1"}, nil, "", "--epsilon: -1 is not positive"},
		{[]string{"--epsilon", "0"}, nil, "", "--epsilon: 0 is not positive"},
		{[]string{"--epsilon", "NaN"}, nil, "", "--epsilon: NaN is not positive"},
		{[]string{"--epsilon", "Inf"}, nil, "", "--epsilon: +Inf is not finite"},
		{[]string{"--epsilon", "abc"}, nil, "", `--epsilon: "abc" is not a number`},
		{[]string{"--delta", "1"}, nil, "", "--delta: 1 is not above 0 and below 1"},
		{[]string{"--delta", "NaN"}, nil, "", "--delta: NaN is not above 0 and below 1"},
		{[]string{"--steps", "0"}, nil, "", "--steps: 0 is not at least 1"},
		{[]string{"--sampling-rate", "1.5"}, nil, "", "--sampling-rate: 1.5 is not above 0 and at most 1"},
		{[]string{"--device", "gpu"}, nil, "", "--device: unknown value gpu"},
		{[]string{"--noise-aware", "varience"}, nil, "", "(did you mean variance?)"},
		{nil, []string{"D3P_EPSILON=-2"}, "", "D3P_EPSILON: -2 is not positive"},
		{nil, []string{"D3P_EPSILON=x"}, "", `D3P_EPSILON: "x" is not a number`},
		{nil, []string{"D3P_LEDGER="}, "", `D3P_LEDGER: "" names no file`},
		{nil, nil, "ledger = ''\n", `ledger: "" names no file`},
		{nil, []string{"D3P_CONFIG="}, "", `D3P_CONFIG: "" names no file`},
		{nil, []string{"D3P_EPSILN=1"}, "", "unknown environment variable D3P_EPSILN (did you mean D3P_EPSILON?)"},
		{nil, []string{"D3P_THETA=shared"}, "", "unknown environment variable D3P_THETA (it is gone: type --compat d3p"},
		{nil, nil, "epsiln = 1\n", "unknown setting epsiln (did you mean epsilon?)"},
		{nil, nil, "epsilon = -3\n", "epsilon: -3 is not positive"},
		{nil, nil, "epsilon = \n", "run.toml"},
		{[]string{"--config", "none.toml"}, nil, "", "--config: no file none.toml"},
		{[]string{"--config", "settings.txt"}, nil, "", "--config: settings.txt: the name must end in .toml"},
		{[]string{"--epsilon", "-1", "--delta", "2"}, nil, "", "--delta: 2 is not above 0 and below 1"},
	} {
		_, err := parse(t, c.args, c.environ, c.config, "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v %q: error %v, want %q", c.args, c.environ, c.config, err, c.want)
			continue
		}
		if status.Of(err) != status.Usage {
			t.Errorf("%v: status %d, want %d", err, status.Of(err), status.Usage)
		}
	}
}

// Variables that other parts of the program read are known.
func TestOtherVariablesAreAccepted(t *testing.T) {
	if _, err := parse(t, nil, []string{cluster.LibraryVariable + "=/usr/lib/libmpi.so"}, "", ""); err != nil {
		t.Error(err)
	}
}

// A whole number has one notation, as a setting and as a flag of a command's own.
func TestWholeNumbersAgree(t *testing.T) {
	steps := settings.Named("steps")
	for _, text := range []string{"7", "+7", "010", "1e3", "2.0", "0x10", "0b1", "1_000", "2.5", "nan", "1e400", "", " 1", "9007199254740993", "9223372036854775808"} {
		var own int
		var wide int64
		c := &cobra.Command{Use: "x"}
		c.Flags().IntVar(&own, "own", 0, "")
		c.Flags().Int64Var(&wide, "wide", 0, "")
		ReadWholeNumbers(c)
		want, mistake := steps.Read(text)
		for name, got := range map[string]func() int{"own": func() int { return own }, "wide": func() int { return int(wide) }} {
			if err := c.Flags().Set(name, text); (err != nil) != (mistake != nil) || err == nil && got() != want {
				t.Errorf("%s: %q is %d (%v), as a setting %v (%v)", name, text, got(), err, want, mistake)
			}
		}
	}
}
