package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/cmd/d3p/internal/workload"
	"d3p/internal/atomicfile"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/net"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/spell"
	"d3p/internal/status"
	"d3p/internal/synthesis"
)

// checkResult is the JSON form of `d3p check`.
type checkResult struct {
	File       string           `json:"file"`
	Valid      bool             `json:"valid"`
	Parameters []string         `json:"parameters"`
	Latent     int              `json:"latent"` // unconstrained scalars
	Layers     []workload.Layer `json:"layers,omitempty"`
	Record     *workload.Record `json:"record,omitempty"` // set for a model with networks
	Mistakes   []mistake        `json:"mistakes"`
	Warnings   []mistake        `json:"warnings"`
	DataCheck  string           `json:"data_check,omitempty"` // the private file with the counts of --data
	// Records has the counts of --show, which are as private as the records.
	Records  *privacy.DataCheck `json:"records,omitempty"`
	declared string             // words about how many records the model file declares
	bought   []string           // lines about levels to buy
	counted  int                // columns of a twin by marginals, which has no parameters
}

// mistake is an error of a model file with its place.
type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func mistakesOf(errs expr.Errors) []mistake {
	list := make([]mistake, len(errs))
	for i, e := range errs {
		list[i] = mistake{e.File, e.Line, e.Column, e.Message, e.Hint}
	}
	return list
}

// checkSettings are the flags of `d3p check`.
type checkSettings struct {
	data, out    string
	show, strict bool
	fix          bool
}

func newCheck(a *app) *cobra.Command {
	var s checkSettings
	c := &cobra.Command{
		Use:   "check MODEL",
		Short: "Report every mistake of a model file, or how records fit it",
		Long: `Check reads a model file and reports all its mistakes at once, each with
file:line:column and a hint. It reads no data. --fix first replaces layers that mix
records in the file: batch_norm and its kin become group_norm with one group.

With --data the custodian sees how the records fit the declaration before a fit
spends anything. For each column d3p counts cells that are missing, are not a
number or date, are out of bounds, have an undeclared level or are not UTF-8. It
also counts the records that contribute nothing because of such cells. The counts
describe records: d3p writes them to --out with mode 0600, with the lines of the first
ten such cells of each column, and prints them, without lines, only with --show, to a
terminal that nobody else reads. --strict ends with status 9 if a rule changed a cell or
left a record out. FILE may be - for standard input. The counts may correct how values
are written: dates, decimals, encoding, the spelling of levels. Bounds or levels that
follow the counts cost privacy that no report counts.`,
		Example: `  d3p check cohort.yaml
  d3p check cohort.yaml --json
  d3p check cohort.yaml --data cohort.csv --out datacheck.json
  d3p check cohort.yaml --data cohort.csv --show
  d3p check network.yaml --fix`,
		Args: exactly("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.check(args[0], s)
		},
	}
	c.Flags().StringVar(&s.data, "data", "", "also read the records in `FILE`, and count the effects of the declared rules on them")
	c.Flags().StringVar(&s.out, "out", "", "private `FILE` (JSON) for the counts of --data")
	c.Flags().BoolVar(&s.show, "show", false, "print the counts of --data, which are as private as the records")
	c.Flags().BoolVar(&s.strict, "strict", false, "end with status 9 if a rule changed a cell of --data or left a record out")
	c.Flags().BoolVar(&s.fix, "fix", false, "first replace batch_norm and its kin in MODEL by group_norm")
	return c
}

// fixMixing replaces the layers of a model file that mix records, and writes the file if it
// had such layers.
func (a *app) fixMixing(path string) error {
	_, err := modelfile.Load(path)
	var errs expr.Errors
	if !errors.As(err, &errs) {
		return nil // nothing to replace: check reports the other errors
	}
	info, err := os.Stat(path)
	if err != nil {
		return atomicfile.Named(path, err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return atomicfile.Named(path, err)
	}
	text, fixed := string(src), false
	for _, e := range slices.Backward(errs) { // from the end, so that earlier positions stay valid
		if e.File != path {
			continue
		}
		if without, ok := net.WithoutMixing(text, e.Line, e.Column); ok {
			text, fixed = without, true
			a.notef("%s:%d: group_norm replaces a layer that mixes records", path, e.Line)
		}
	}
	if !fixed {
		return nil
	}
	return atomicfile.Write(path, []byte(text), info.Mode().Perm())
}

// check refuses flags that contradict one another.
func (s checkSettings) check() error {
	counted := s.data != ""
	switch given := s.out != "" || s.show || s.strict; {
	case !counted && given:
		return status.Usagef("--out, --show, --strict: only with --data")
	case counted && !given:
		return status.Usagef("--out: missing: the private file that the counts go to, as in --out datacheck.json (or --show prints them)")
	}
	return nil
}

// check reads a model file and, with --data, counts how records fit it.
func (a *app) check(path string, s checkSettings) error {
	if err := s.check(); err != nil {
		return err
	}
	result := checkResult{File: path, Parameters: []string{}, Mistakes: []mistake{}, Warnings: []mistake{}, DataCheck: s.out}
	if s.fix {
		if err := a.fixMixing(path); err != nil {
			return err
		}
	}
	m, err := modelfile.Load(path)
	if err == nil {
		err = flags.CheckAlone(m)
	}
	var errs expr.Errors
	if err != nil && !errors.As(err, &errs) {
		return err
	}
	result.Mistakes = mistakesOf(errs)
	if err != nil {
		if a.json {
			err = errors.Join(a.result(result, nil), err)
		}
		return status.With(status.Spec, err)
	}
	if m.ByMarginals() {
		if err := synthesis.Check(m); err != nil {
			return status.With(status.Spec, err)
		}
	}
	result.Valid = true
	result.Warnings = mistakesOf(m.Spec.Warnings)
	result.describe(m)
	result.declared = declaredWords(m.Spec.Data.Rows)
	result.Layers, result.Record = workload.LayersOf(m)
	a.warn(m.Spec.Warnings)
	var counts *privacy.DataCheck
	if s.data != "" {
		if counts, err = checkRecords(m, path, s.data, s.out); err != nil {
			return err
		}
		if s.show {
			shown := *counts
			shown.Columns = slices.Clone(counts.Columns)
			for i := range shown.Columns {
				shown.Columns[i].Lines = nil
			}
			result.Records = &shown
		}
	}
	err = a.result(result, func(w io.Writer) { result.print(w) })
	if err == nil && s.strict && !counts.Fits() {
		return status.With(status.Strict, fmt.Errorf("--strict: %s does not fit its declaration (d3p check %s --data %s --show prints where)", s.data, spell.Word(path), spell.Word(s.data)))
	}
	return err
}

// describe fills in the facts that a fit of the model starts from.
func (r *checkResult) describe(m *models.Model) {
	if m.ByMarginals() {
		r.counted = len(m.Encoding.Columns())
		return
	}
	for _, c := range m.Spec.Data.Columns {
		if c.BuysLevels() {
			r.bought = append(r.bought, fmt.Sprintf("levels of %s: bought, for epsilon %g alone; at most %d, as counted here", c.Name.V, c.Prices.Levels.V, c.MostLevels()))
		}
	}
	r.Latent = m.P
	for i := range m.Params {
		r.Parameters = append(r.Parameters, m.Params[i].String())
	}
}

// print prints the result for a model without mistakes.
func (r checkResult) print(w io.Writer) {
	if r.counted > 0 {
		fmt.Fprintf(w, "%s: no mistakes; a synthetic table of %d columns from noisy tables of counts\n", r.File, r.counted)
	} else {
		fmt.Fprintf(w, "%s: no mistakes; %d parameters, %d unconstrained numbers: %s\n",
			r.File, len(r.Parameters), r.Latent, strings.Join(r.Parameters, ", "))
	}
	for _, line := range r.bought {
		fmt.Fprintln(w, line)
	}
	workload.PrintLayers(w, r.Layers, r.Record)
	if r.DataCheck != "" {
		fmt.Fprintf(w, "%s: how the records fit the declaration; as private as they are\n", r.DataCheck)
	}
	if r.Records != nil {
		printCounts(w, r.Records, r.declared)
	}
}

// checkRecords counts how the rules of the model at path act on the records in data. It
// writes the counts to out, which only its owner can read; with out "" it writes nothing.
func checkRecords(m *models.Model, path, data, out string) (*privacy.DataCheck, error) {
	data = orStandardInput(data)
	if err := modelfile.CheckPublic(m, path, data); err != nil {
		return nil, err
	}
	if out != "" {
		if err := outfile.CheckPrivate(out, path, data); err != nil {
			return nil, err
		}
	}
	root, err := noise.System() // chooses rows of units that have too many
	if err != nil {
		return nil, status.With(status.Numeric, err)
	}
	defer root.Wipe()
	e := m.Encoding
	for _, c := range m.Spec.Data.Columns {
		if c.BuysLevels() { // none is undeclared before the purchase
			e = e.Opened(c.HeaderName())
		}
	}
	counts, err := privacy.NewTable(privacy.TableConfig{Data: data, Encoding: e, Root: root}).DataCheck()
	if err != nil {
		return nil, status.With(status.Data, atomicfile.Named(data, err))
	}
	if out != "" {
		var text bytes.Buffer
		if err := errors.Join(counts.Write(&text), atomicfile.Write(out, text.Bytes(), 0o600)); err != nil {
			return nil, status.With(status.Numeric, fmt.Errorf("--out: %w", err))
		}
	}
	return counts, nil
}

// declaredWords are words about how many records a model file declares.
func declaredWords(r data.Rows) string {
	if r.Public.IsSet() {
		return fmt.Sprintf("%d declared", r.N())
	}
	return fmt.Sprintf("at most %d declared", r.N())
}

// printCounts prints for the custodian how the rules act on the records; declared is how many there should be.
func printCounts(w io.Writer, c *privacy.DataCheck, declared string) {
	t := terminal.Columns{W: w, Right: []int{0, 1, 2, 3, 4}}
	t.Line(terminal.Cells{"column", "missing", "unreadable", "out of bounds", "undeclared level"})
	unreadable, notWhole, undeclared, notUTF8 := 0, 0, 0, 0
	for _, column := range c.Columns {
		unreadable += column.Unparseable - column.NotWhole
		notWhole += column.NotWhole
		undeclared += column.UnknownLevel
		notUTF8 += column.NotUTF8
		t.Line(terminal.Cells{column.Column, column.Missing, column.Unparseable, column.OutOfBounds, column.UnknownLevel})
	}
	t.Print()
	fmt.Fprintf(w, "%d records, %s; %d contribute nothing", c.Records, declared, c.Rejected)
	if u := c.Units; u != nil {
		fmt.Fprintf(w, "; %d rows: %d without %s, %d rejected, %d beyond rows_per_unit", u.Rows, u.WithoutID, u.Column, u.Rejected, u.Dropped)
	}
	if bad := c.Malformed; bad != nil {
		fmt.Fprintf(w, "; %d malformed rows, the first on line %d: %s", bad.Rows, bad.Line, bad.Problem)
	}
	fmt.Fprintln(w)
	if unreadable > 0 {
		fmt.Fprintln(w, "under data `decimal: \",\"` reads 3,14, `thousands: \",\"` 1,234 and `dates: dmy` 31.12.2024 and 31DEC2024; `symbol: kg` of a column reads 70 kg, \"%\" 12%; `missing_tokens: [NA, unknown]` names cells without a value")
	}
	if notWhole > 0 {
		fmt.Fprintf(w, "%d cells are fractions in columns of `type: integer`, which count as missing; `type: real` reads them\n", notWhole)
	}
	if notUTF8 > 0 {
		fmt.Fprintf(w, "%d cells are not UTF-8; `encoding: windows-1252` reads what Excel writes in Western Europe\n", notUTF8)
	}
	if undeclared > 0 {
		fmt.Fprintln(w, "`levels: {no: [n, \"0\"], yes: [y, \"1\"]}` declares other spellings of levels (case matters only where it tells levels apart); `unknown: LEVEL` of a category replaces the undeclared ones")
	}
}

// warn prints warnings, which are no mistakes.
func (a *app) warn(warnings expr.Errors) {
	for _, w := range warnings {
		text := w.Message
		if w.Hint != "" {
			text += " (" + w.Hint + ")"
		}
		fmt.Fprintf(a.err, "%s: warning: %s\n", w.Position, text) // even under --quiet
	}
}
