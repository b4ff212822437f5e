package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
)

// runSettings are the values that steer a fit, however they were given.
type runSettings struct {
	Fit        plan.Config // a zero value leaves the decision to plan.New
	AcceptRisk []string
	Formats    []string

	Model, Out, Device string
	Ledger             string
	Precision          string
	Threads, Draws     int
	CheckpointEvery    int // s
	MaxMemory          int // MB
	Repeat             int // 0 is 1
	Seed               uint64

	sources map[string]string // of every setting, by name
	set     map[string]bool   // the settings that something gave a value
	beside  map[string]bool   // those of them that something beside the model file did
}

// given tells whether a flag, a variable, the config file or the model file
// gave the setting a value.
func (s *runSettings) given(name string) bool { return s.set[name] }

// namesFile tells whether a setting is the name of a file of the custodian, which
// can say more than a release should.
func namesFile(setting string) bool {
	return slices.Contains([]string{"model", "out", "ledger"}, setting)
}

// settingGroup says which commands take a setting.
type settingGroup int

const (
	algorithm settingGroup = iota // decides the algorithm of any fit
	price                         // decides the privacy and its price
	running                       // where a fit runs and what it writes
)

// setting is one row of the table: a flag, a D3P_ variable, a key of the config
// file and, for most, a value of the model file (modelValues).
type setting struct {
	group   settingGroup
	name    string
	usage   string
	choices []string               // empty: any value of the field's type
	field   func(*runSettings) any // pointer to the field, or to an optional one
}

// settings is the table of every setting, in the order of the help text.
func settings() []setting {
	var rows []setting
	for _, o := range plan.Options() {
		rows = append(rows, setting{groupOf(o.Name), o.Name, o.Usage, o.Choices,
			func(s *runSettings) any { return o.Field(&s.Fit) }})
	}
	return append(rows,
		setting{price, "accept-risk", "comma-separated `RISKS` accepted by name; recorded in the report", nil, func(s *runSettings) any { return &s.AcceptRisk }},
		setting{price, "ledger", "ledger `FILE` of the data set: the fit is refused when all its runs together would exceed its limit", nil, func(s *runSettings) any { return &s.Ledger }},
		setting{running, "model", "model `FILE` (default DATA.yaml beside the data, then ./d3p.yaml)", nil, func(s *runSettings) any { return &s.Model }},
		setting{running, "out", "`FOLDER` for the results; must not exist (default d3p-run-NAME-1, -2, ...)", nil, func(s *runSettings) any { return &s.Out }},
		setting{running, "draws", "number of posterior draws to write (default 4000)", nil, func(s *runSettings) any { return &s.Draws }},
		setting{running, "formats", "comma-separated formats of the draws (default parquet,zarr)", report.FormatNames(), func(s *runSettings) any { return &s.Formats }},
		setting{running, "seed", "seed of the posterior draws, which is public; it never fixes privacy noise or batches", nil, func(s *runSettings) any { return &s.Seed }},
		setting{running, "device", "where to run; cuda:N is the N-th CUDA device (default auto)", []string{"auto", "cpu", "cuda"}, func(s *runSettings) any { return &s.Device }},
		setting{running, "max-memory", "memory of the CUDA device to use, in MB; a table that does not fit is sent in parts (default nine tenths of what is free)", nil, func(s *runSettings) any { return &s.MaxMemory }},
		setting{running, "precision", "width in which the table is kept in memory; sums, norms and noise are float64 in both (default float32)", []string{"float32", "float64"}, func(s *runSettings) any { return &s.Precision }},
		setting{running, "repeat", "number of fits with the same settings but noise of their own, side by side; each is charged to the --ledger (default 1)", nil, func(s *runSettings) any { return &s.Repeat }},
		setting{running, "checkpoint-every", "seconds between two checkpoints of a running fit, from which d3p resume goes on when it was killed (default 60)", nil, func(s *runSettings) any { return &s.CheckpointEvery }},
		setting{running, "threads", "threads of the CPU engine (default: chosen by the work per step)", nil, func(s *runSettings) any { return &s.Threads }},
	)
}

// sameMeaning names, for a setting that says the same as another, that other:
// a flag --steps replaces the epochs of a model file.
var sameMeaning = map[string]string{
	"steps": "epochs", "epochs": "steps",
	"sampling-rate": "batch-size", "batch-size": "sampling-rate",
}

// groupOf tells the fit options that only a private fit has from the others.
func groupOf(name string) settingGroup {
	private := []string{"epsilon", "delta", "adjacency", "noise-multiplier", "clipping", "clip-norm", "clip-quantile", "noise-aware", "compat"}
	if slices.Contains(private, name) {
		return price
	}
	return algorithm
}

// defineSettings adds the flags of the given groups, and --config, to c and
// returns what they are parsed into.
func defineSettings(c *cobra.Command, groups ...settingGroup) *runSettings {
	s := &runSettings{sources: map[string]string{}, set: map[string]bool{}}
	c.Flags().SortFlags = false
	for _, row := range settings() {
		if !slices.Contains(groups, row.group) {
			continue
		}
		usage := row.usage
		if len(row.choices) > 0 {
			usage += ": " + strings.Join(row.choices, ", ")
		}
		define(c.Flags(), row.name, usage, row.field(s))
		if len(row.choices) > 0 {
			completeWords(c, row.name, row.choices)
		}
	}
	c.Flags().String("config", "", "run settings `FILE` (TOML, YAML or JSON; its keys are flag names)")
	c.MarkFlagFilename("config", "toml", "yaml", "json")
	c.MarkFlagFilename("model", "yaml", "yml")
	return s
}

// define adds a flag for the field, by its type.
func define(f *pflag.FlagSet, name, usage string, field any) {
	switch p := field.(type) {
	case *string:
		f.StringVar(p, name, "", usage)
	case *float64:
		f.Float64Var(p, name, 0, usage)
	case **float64:
		f.Var(optionalFloat{p}, name, usage)
	case *int:
		f.IntVar(p, name, 0, usage)
	case *uint64:
		f.Uint64Var(p, name, 0, usage)
	case *[]string:
		f.StringSliceVar(p, name, nil, usage)
	default:
		panic(fmt.Sprintf("setting %s has a field of type %T", name, field))
	}
}

func settingNames() (names []string) {
	for _, row := range settings() {
		names = append(names, row.name)
	}
	return names
}

// variable is the environment variable of a setting.
func variable(name string) string {
	return "D3P_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
