package flags

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/models/spec"
	"d3p/internal/privacy/accountant"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// sourcesModel is a model file without settings; ROWS is its number of records.
const sourcesModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {ROWS}
  columns:
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1
  family: bernoulli
`

// trial is a text that a setting is given, and whether it may be.
type trial struct {
	text string
	ok   bool
	want string // in the message, when it may not
}

// trials are the values at, below and above the limits of a row, every choice and
// what looks like one.
func trials(row settings.Setting) (list []trial) {
	add := func(ok bool, text, want string) { list = append(list, trial{text, ok, want}) }
	switch row.Kind {
	case settings.Number:
		r := row.Range
		add(!r.Above, number(r.Low), r.String())
		add(false, number(r.Low-0.5), r.String())
		add(true, number(r.Low+0.25), "")
		if math.IsInf(r.High, 1) {
			add(true, "1e+300", "")
			add(false, "1e999", "is not finite")
		} else {
			add(!r.Below, number(r.High), r.String())
			add(false, number(r.High+0.5), r.String())
		}
		add(false, "NaN", r.String())
		add(false, "many", "is not a number")
	case settings.Count:
		least := int(row.Range.Low)
		add(true, strconv.Itoa(least), "")
		add(true, strconv.Itoa(least+2), "")
		add(false, strconv.Itoa(least-1), row.Range.String())
		add(false, "2.5", "is not a whole number")
		add(false, "many", "is not a whole number")
	case settings.Seed:
		add(true, "0", "")
		add(true, "7", "")
		add(false, "-1", "not negative")
	case settings.Word, settings.Words:
		for _, word := range row.Choices {
			add(true, word, "")
			add(false, word+"x", "did you mean ")
		}
		add(len(row.Choices) == 0, "zzzzzzzzzzzz", "one of: ")
	case settings.Text:
		g, ok := grammars[row.Name]
		if !ok {
			g.good = []string{"some.file"}
		}
		for _, text := range g.good {
			add(true, text, "")
		}
		for text, want := range g.bad {
			add(false, text, want)
		}
	}
	for text := range row.Refused {
		add(false, text, "")
	}
	return list
}

// grammar are texts of a setting with a form, and what the message about a bad one says.
type grammar struct {
	good []string
	bad  map[string]string
}

var (
	scheduleGrammar = grammar{[]string{"constant", "linear:2", "2@0,1@0.5"},
		map[string]string{"linear:0": "not a factor", "2@0.5": "begins at 0.5", "cosine": "not a factor", "2@1.5": "not a share"}}
	grammars = map[string]grammar{
		"noise-schedule": scheduleGrammar, "batch-schedule": scheduleGrammar, "clip-norm-schedule": scheduleGrammar,
		"trace": {[]string{"none", "loss", "loss,accuracy@0.1"},
			map[string]string{"speed": "is not one of", "loss,loss": "is not one of", "loss@0": "not a share", "loss@0.7": "not a share"}},
		"clip-groups": {[]string{"whole", "each", "layers:size", "b@0.5"},
			map[string]string{"each:x": "unknown rule", "b@0": "not a share", "b,b": "in two groups", "b,c@0.5": "some groups", "b@0.7,c@0.6": "add up to 1.3"}},
	}
)

// Every setting with a form has texts here, so that TestSourcesAgree tries them.
func TestGrammarsAreTried(t *testing.T) {
	for _, row := range settings.Table() {
		if row.Form != nil && (len(grammars[row.Name].good) == 0 || len(grammars[row.Name].bad) == 0) {
			t.Errorf("%s: no texts in grammars", row.Name)
		}
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// beside are the flags that a row needs to be used.
func beside(row settings.Setting, text string) (args []string) {
	for _, need := range row.Needs {
		if len(need.Is) > 0 {
			args = append(args, "--"+need.Setting, need.Is[0])
		}
	}
	return args
}

// modelWith is the model file with a value at a key, block.key or block.block.key.
func modelWith(row settings.Setting, key, text string) string {
	if row.Kind == settings.Words {
		text = "[" + text + "]"
	}
	if _, ok := grammars[row.Name]; ok && text[0] != '"' && strings.ContainsAny(text, "@:,") {
		text = strconv.Quote(text)
	}
	block, inner, _ := strings.Cut(key, ".")
	if outer, inside, ok := strings.Cut(inner, "."); ok && block != "data" {
		inner, text = outer, "{"+inside+": "+text+"}"
	}
	switch {
	case block == "data":
		return strings.Replace(sourcesModel, "ROWS", strings.TrimPrefix(inner, "rows.")+": "+text, 1)
	case row.Name == "guide" && text == "custom":
		text += `, params: {Intercept: "normal(m, 1)"}, free: {m: "zeros"}`
	}
	return strings.Replace(sourcesModel, "ROWS", "public: 100", 1) + fmt.Sprintf("%s: {%s: %s}\n", block, inner, text)
}

// toml is a line of a config file; numbers stand there without quotes.
func toml(name, text string) string {
	if x, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		text = strconv.Quote(text)
	}
	return name + " = " + text + "\n"
}

// For every row of the table flag, variable, config file and model file accept and
// refuse the same values, and give the setting the same value.
func TestSourcesAgree(t *testing.T) {
	for _, row := range settings.Table() {
		for _, try := range trials(row) {
			if !hasField(row) {
				break // TestSettingsHaveFields reports it
			}
			args := beside(row, try.text)
			plain := strings.Replace(sourcesModel, "ROWS", "public: 100", 1)
			check := func(source string, s *Settings, err error) {
				t.Helper()
				switch {
				case try.ok && err != nil:
					t.Errorf("%s, %s: %s is refused: %v", row.Name, source, try.text, err)
				case !try.ok && err == nil:
					t.Errorf("%s, %s: %s is accepted", row.Name, source, try.text)
				case !try.ok && !strings.Contains(err.Error(), try.want):
					t.Errorf("%s, %s: %v, want %q", row.Name, source, err, try.want)
				case try.ok && row.Print(s.Values[row.Name]) != try.text:
					t.Errorf("%s, %s: %v, want %s", row.Name, source, s.Values[row.Name], try.text)
				}
			}
			s, err := parse(t, append(args, "--"+row.Name+"="+try.text), nil, "", plain)
			check("flag", s, err)
			s, err = parse(t, args, []string{settings.Variable(row.Name) + "=" + try.text}, "", plain)
			check("variable", s, err)
			s, err = parse(t, args, nil, toml(row.Name, try.text), plain)
			check("config file", s, err)
			if row.Key != "" {
				s, err = parse(t, args, nil, "", modelWith(row, row.Key, try.text))
				check("model file", s, err)
				// d3p check has the file alone
				if _, errs := spec.Parse("m.yaml", []byte(modelWith(row, row.Key, try.text)), nil); (len(errs) == 0) != try.ok {
					t.Errorf("%s, model file alone: %s: %v", row.Name, try.text, errs)
				}
			}
		}
	}
}

// A command checks variables and the config file also for settings that it does not take.
func TestUntakenValuesAreChecked(t *testing.T) {
	for _, row := range settings.Table() {
		for _, try := range trials(row) {
			for source, given := range map[string]struct {
				environ []string
				config  string
			}{
				"variable":    {[]string{settings.Variable(row.Name) + "=" + try.text}, ""},
				"config file": {nil, toml(row.Name, try.text)},
			} {
				_, _, err := parseTaking(t, nil, nil, given.environ, given.config, "")
				if try.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), try.want) {
					t.Errorf("%s, %s: %s: error %v, want %q", row.Name, source, try.text, err, try.want)
				}
			}
		}
	}
}

// oddNumbers are texts that readers of numbers take in different ways, oddWords those of
// others.
var (
	oddNumbers = []string{
		"", "+1", " 1", "1 ", "010", ".5", "1E3", "2.0", "1_000", "1,5", "0x10", "0x1p3", "1e400", "1e-400",
		"9007199254740993", "9007199254740993.0", "18446744073709551616", "nan", ".nan", "-Inf", "true", "~", "auto", "Auto", "1:30", "2001-01-01", "\u0661",
	}
	oddWords = []string{" ", "~", "auto", "'1'", "true", "1\u00a0", "a,"}
)

// bare are odd texts that YAML and TOML both take without quotes.
var bare = []string{"+1", "1e0", "1E3", "2.0", "2.5", "-0.0", "1e-400", "1e400", "9007199254740993", "inf", "nan", "true", "[1]"}

// For every row of the table flag, variable, config file and model file take the same odd
// values, and give the setting the same value.
func TestSourcesAgreeOnOddValues(t *testing.T) {
	plain := strings.Replace(sourcesModel, "ROWS", "public: 100", 1)
	for _, row := range settings.Table() {
		if !hasField(row) {
			continue
		}
		texts := slices.Clone(oddWords)
		for _, word := range row.Choices {
			texts = append(texts, strings.ToUpper(word), " "+word, word+","+word, strings.ReplaceAll(word, "_", "-")+"-")
		}
		numeric := row.Kind == settings.Number || row.Kind == settings.Count || row.Kind == settings.Seed
		if numeric {
			texts = append(slices.Clone(bare), oddNumbers...)
		}
		for _, text := range texts {
			args, want := beside(row, text), ""
			check := func(source string, s *Settings, err error) {
				t.Helper()
				got := "refused"
				if err == nil {
					got = row.Print(s.Values[row.Name])
				}
				if source == "flag" {
					want = got
				}
				if got != want {
					t.Errorf("%s, %s: %q is %s (%v), as a flag %s", row.Name, source, text, got, err, want)
				}
			}
			s, err := parse(t, append(args, "--"+row.Name+"="+text), nil, "", plain)
			check("flag", s, err)
			s, err = parse(t, args, []string{settings.Variable(row.Name) + "=" + text}, "", plain)
			check("variable", s, err)
			s, err = parse(t, args, nil, row.Name+" = "+strconv.Quote(text)+"\n", plain)
			check("config file", s, err)
			plainly := numeric && slices.Contains(bare, text)
			if plainly {
				s, err = parse(t, args, nil, row.Name+" = "+text+"\n", plain)
				check("config file, no quotes", s, err)
			}
			if row.Key == "" {
				continue
			}
			if text != settings.Auto { // in quotes it is a word
				s, err = parse(t, args, nil, "", modelWith(row, row.Key, strconv.Quote(text)))
				check("model file", s, err)
			}
			if plainly || text == settings.Auto && row.Kind != settings.Words && !slices.Contains(row.Choices, text) {
				s, err = parse(t, args, nil, "", modelWith(row, row.Key, text))
				check("model file, no quotes", s, err)
			}
		}
	}
}

// auto, from wherever, leaves a setting to the plan, whatever a weaker source says.
func TestAutoHidesWeakerSources(t *testing.T) {
	model := modelWith(settings.Named("steps"), "fit.steps", "7")
	for _, c := range []struct {
		args, variables []string
		config          string
		want            any
	}{
		{args: nil, want: 7},
		{args: []string{"--steps=auto"}},
		{args: []string{"--steps=auto"}, variables: []string{"D3P_STEPS=5"}},
		{variables: []string{"D3P_STEPS=auto"}, config: "steps = 5\n"},
		{config: "steps = \"auto\"\n"},
		{args: []string{"--steps=3"}, config: "steps = \"auto\"\n", want: 3},
	} {
		s, err := parse(t, c.args, c.variables, c.config, model)
		if err != nil || s.Values["steps"] != c.want {
			t.Errorf("%v, %v, %q: %v (%v), want %v", c.args, c.variables, c.config, s.Values["steps"], err, c.want)
		}
	}
}

// A name or key that a setting had still gives it its value, with a note.
func TestOldNames(t *testing.T) {
	renamed := 0
	for _, row := range settings.Table() {
		var text string
		for _, try := range trials(row) {
			if try.ok {
				text = try.text
			}
		}
		args, plain := beside(row, text), strings.Replace(sourcesModel, "ROWS", "public: 100", 1)
		check := func(source string, s *Settings, notes string, err error) {
			t.Helper()
			renamed++
			if err != nil || row.Print(s.Values[row.Name]) != text {
				t.Errorf("%s: %v, %v, want %s", source, s.Values[row.Name], err, text)
			}
			if !strings.Contains(notes, "old name") {
				t.Errorf("%s: no note among %q", source, notes)
			}
		}
		for _, old := range row.Old {
			s, notes, err := parseNoting(t, append(args, "--"+old+"="+text), nil, "", plain)
			check("--"+old, s, notes, err)
			s, notes, err = parseNoting(t, args, []string{settings.Variable(old) + "=" + text}, "", plain)
			check(settings.Variable(old), s, notes, err)
			s, notes, err = parseNoting(t, args, nil, toml(old, text), plain)
			check("config "+old, s, notes, err)
		}
		for _, old := range row.OldKeys {
			s, notes, err := parseNoting(t, args, nil, "", modelWith(row, old, text))
			check(old, s, notes, err)
		}
	}
	if renamed < 15 {
		t.Errorf("%d old names", renamed)
	}
}

// A word with hyphens is the one with underscores, with a note.
func TestOldSpellings(t *testing.T) {
	plain := strings.Replace(sourcesModel, "ROWS", "public: 100", 1)
	for _, c := range []struct {
		args          []string
		config, model string
	}{
		{[]string{"--neighbours", "zero-out"}, "", plain},
		{nil, "neighbours = \"zero-out\"\n", plain},
		{nil, "", plain + "privacy: {neighbours: zero-out}\n"},
	} {
		s, notes, err := parseNoting(t, c.args, nil, c.config, c.model)
		if err != nil || s.Fit.Neighbours != "zero_out" || !strings.Contains(notes, "zero-out is an old spelling") {
			t.Errorf("%v %q: %q, %v, notes %q", c.args, c.config, s.Fit.Neighbours, err, notes)
		}
	}
}

// An error of the plan names the place of the value, wherever it stands, and keeps its
// status but for a mistake in the model file.
func TestErrorsOfThePlanNameTheirPlace(t *testing.T) {
	plain := strings.Replace(sourcesModel, "ROWS", "public: 100", 1)
	for _, c := range []struct {
		args, environ []string
		config, model string
		fault         error
		want          string
		status        status.Code
	}{
		{[]string{"--batch-size=200"}, nil, "", plain, errors.New("--batch-size: too large"), "--batch-size: too large", status.Usage},
		{nil, []string{"D3P_BATCH_SIZE=200"}, "", plain, errors.New("--batch-size: too large"), "D3P_BATCH_SIZE: too large", status.Usage},
		{nil, nil, "batch-size = 200\n", plain, errors.New("--batch-size: too large"), "run.toml: batch-size: too large", status.Usage},
		{nil, nil, "", plain + "fit: {batch_size: 200}\n", errors.New("--batch-size: too large"), "m.yaml:10:19: batch_size: too large", status.Spec},
		{nil, nil, "", plain + "fit: {batch_size: 200}\n", errors.New("--sampling: not so"), "--sampling: not so", status.Usage},
		{nil, nil, "", plain + "privacy: {epsilon: 2}\n", fmt.Errorf("--epsilon: %w", &accountant.InfeasibleError{}), "m.yaml:10:20: epsilon: ", status.Budget},
	} {
		s, err := parse(t, c.args, c.environ, c.config, c.model)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := spec.Parse("m.yaml", []byte(c.model), nil)
		if err = s.Locate(m, c.fault); !strings.HasPrefix(err.Error(), c.want) || status.Of(err) != c.status {
			t.Errorf("%v %v %q: %v, status %d, want %q, %d", c.args, c.environ, c.config, err, status.Of(err), c.want, c.status)
		}
	}
	if s, err := parse(t, nil, nil, "", plain); err != nil || s.Locate(nil, nil) != nil {
		t.Error(err)
	}
}

// A setting that the chosen optimizer, guide or sampler does not use is refused
// wherever it stands, with the place and what to write.
func TestUnusedSettings(t *testing.T) {
	plain := strings.Replace(sourcesModel, "ROWS", "public: 100", 1)
	for _, c := range []struct {
		args, environ []string
		config, model string
		want          string
		status        status.Code
	}{
		{[]string{"--momentum", "0"}, nil, "", plain, "--momentum: only optimizer sgd uses it (type --optimizer sgd,", status.Usage},
		{[]string{"--optimizer", "adam"}, []string{"D3P_MOMENTUM=0.9"}, "", plain, "D3P_MOMENTUM: optimizer adam does not use it", status.Usage},
		{nil, nil, "rank = 2\nguide = \"mean_field\"\n", plain, "run.toml: rank: guide mean_field does not use it (type --guide low_rank,", status.Usage},
		{nil, nil, "", plain + "fit: {momentum: 0.9}\n", "m.yaml:10:17: momentum: only optimizer sgd uses it (write fit: {optimizer: sgd}, or remove momentum)", status.Spec},
		{nil, nil, "", plain + "fit: {optimizer: adam, momentum: 0.9}\n", "m.yaml:10:34: momentum: optimizer adam does not use it (write fit: {optimizer: sgd}, or remove momentum)", status.Spec},
		{[]string{"--optimizer", "adagrad"}, nil, "", plain + "fit: {optimizer: sgd, momentum: 0.9}\n", "m.yaml:10:33: momentum: optimizer adagrad does not use it", status.Spec},
		{[]string{"--clip-quantile", "0.5", "--compat", "d3p"}, nil, "", plain, "--clip-quantile: clipping flat does not use it", status.Usage},
		{[]string{"--steps", "3", "--epochs", "4"}, nil, "", plain, "--epochs: steps has the same meaning", status.Usage},
	} {
		_, err := parse(t, c.args, c.environ, c.config, c.model)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v %q: %v, want %q", c.args, c.environ, c.config, err, c.want)
		}
	}
	if _, err := parse(t, []string{"--optimizer", "sgd"}, nil, "", plain+"fit: {momentum: 0.9}\n"); err != nil {
		t.Errorf("a flag gives the optimizer: %v", err)
	}
}

func hasField(row settings.Setting) bool {
	var s Settings
	return settings.Has(&s, row.Name) || settings.Has(&s.Fit, row.Name)
}

// Every row has a field of the settings of a run.
func TestSettingsHaveFields(t *testing.T) {
	for _, row := range settings.Table() {
		if !hasField(row) {
			t.Errorf("neither Settings nor plan.Config has a field for the setting %s", row.Name)
		}
	}
}
