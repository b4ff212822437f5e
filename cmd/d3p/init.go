package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/interview"
	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/atomicfile"
	"d3p/internal/models/expr"
	"d3p/internal/models/skeleton"
	"d3p/internal/models/spec"
	"d3p/internal/parquet"
	"d3p/internal/privacy"
	"d3p/internal/spell"
	"d3p/internal/status"
)

func newInit(a *app) *cobra.Command {
	var codebook string
	var known skeleton.Known
	c := &cobra.Command{
		Use:   "init DATA | --from CODEBOOK",
		Short: "Write a model file skeleton from the header line alone",
		Long: `Init prints a model file for the columns of a CSV or Parquet file. You fill the
blanks from public knowledge about the columns. Init reads the column names from a
file (or -, standard input) and its folders, such as year=2020, and no row: bounds,
levels and scales taken from the data would cost privacy.

--from fills in a public codebook: a CSV file with one line per column of the data
and the columns name, type, lower, upper, levels (a|b|c), center, by, transform,
unknown, missing_codes (-9|99: cells without a value), source, label and role. All but
name are optional. Types may be the codebook's own words, such as categorical, numeric
or logical. Roles (response, predictor, group, id, ignore) make the formula where
--formula does not.

On a terminal init asks for what is missing, and writes the file that you name.

--entity, --records, --formula and --family fill in their values. With --formula the
file declares only the columns that the formula names.`,
		Example: `  d3p init cohort.csv > cohort.yaml
  d3p init --from codebook.csv > cohort.yaml
  d3p init --from codebook.csv --entity patient --records 4000 --twin > twin.yaml
  d3p init --from codebook.csv --entity patient --records 4000 --formula 'died30 ~ age + sex' --family bernoulli > cohort.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if codebook != "" && len(args) > 0 {
				return status.Usagef("d3p init: %s: the columns are those of --from %s; give one of the two", args[0], codebook)
			}
			if codebook != "" {
				return nil
			}
			return exactly("DATA")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if known.Records < 0 {
				return status.Usagef("--records: %d is not positive", known.Records)
			}
			if known.Twin && known.Formula != "" {
				return status.Usagef("--twin: a model of whole records has no --formula; give one of the two")
			}
			if codebook != "" {
				return a.initFrom(codebook, known)
			}
			return a.initHeader(args[0], known)
		},
	}
	f := c.Flags()
	f.StringVar(&codebook, "from", "", "public `CODEBOOK` (CSV) to take the declarations from, instead of a data file")
	f.StringVar(&known.Entity, "entity", "", "word for one protected `UNIT`: patient, person, household")
	f.IntVar(&known.Records, "records", 0, "public number of units")
	f.StringVar(&known.Encoding, "encoding", "", "how the letters of the file are written: "+strings.Join(spec.Encodings(), ", "))
	flags.CompleteWords(c, "encoding", spec.Encodings())
	f.StringVar(&known.Formula, "formula", "", "the model's formula")
	f.BoolVar(&known.Twin, "twin", false, "a model of whole records, for synthetic tables, instead of a formula")
	f.BoolVar(&known.Buys, "buy", false, "show how to buy bounds, scales and the number of units with a part of the budget")
	f.StringVar(&known.Family, "family", "", "the response's family: bernoulli, normal, poisson, ...")
	return c
}

// initHeader writes the skeleton for the columns of a data file.
func (a *app) initHeader(data string, known skeleton.Known) error {
	if known.Encoding != "" {
		if err := flags.CheckWords("--encoding", []string{known.Encoding}, spec.Encodings()); err != nil {
			return err
		}
	}
	files, err := modelfile.DataFiles(data)
	if err != nil {
		return err
	}
	header, lists, separator, err := readHeader(files[0], known.Encoding)
	if err != nil {
		return status.With(status.Data, err)
	}
	blank := 0
	for _, name := range header {
		if strings.TrimSpace(name) == "" {
			blank++
		}
	}
	if 2*blank > len(header) {
		a.warnf("%s: the first line names %d of %d columns; if it is a title, take it out: tail -n +2 %s > NEW.csv", files[0], len(header)-blank, len(header), spell.Word(files[0]))
	}
	for _, name := range privacy.Partitions(files[0]) {
		if !slices.Contains(header, name) {
			header = append(header, name)
		}
	}
	known.Semicolons, known.Lists = separator == ';', lists
	if a.interviewed() && data != "-" {
		described := make([]skeleton.Described, len(header))
		for i, name := range header {
			described[i].Name = name
		}
		return a.interview(described, known, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(data), filepath.Ext(data)), ".csv")+".yaml")
	}
	text := skeleton.Skeleton(header, known)
	if err := mistakes(text, "--formula, --family: "); err != nil {
		return err
	}
	return a.result(map[string]any{"columns": header, "model": string(text)}, func(w io.Writer) { w.Write(text) })
}

// interviewed reports whether a person at a terminal can answer: both streams are the
// terminal, and the output is for people.
func (a *app) interviewed() bool {
	return a.isTerminal() && !a.json && !a.quiet && term.IsTerminal(int(os.Stdin.Fd()))
}

// interview asks for the missing facts and writes the model file.
func (a *app) interview(described []skeleton.Described, known skeleton.Known, path string) error {
	i := interview.Interview{
		In: bufio.NewScanner(os.Stdin), Out: terminal.Plain{To: a.out},
		Check: func(text []byte) error { return mistakes(text, "") },
	}
	text, err := i.Run(described, known)
	if err != nil {
		return status.With(status.Usage, err)
	}
	return i.Write(text, path)
}

// mistakes reports the errors of a model file other than its blanks: a formula that the
// columns or the family cannot have. from names the source of the columns.
func mistakes(text []byte, from string) error {
	// blank cuts of a family are not a mistake
	_, found := spec.Parse("", bytes.Replace(text, []byte("cuts: "+spec.Blank), []byte("cuts: [1]"), 1), nil)
	var list []string
	for _, e := range found {
		if !strings.HasSuffix(e.Message, spec.Unfilled) {
			list = append(list, from+(&expr.Error{Message: e.Message, Hint: e.Hint}).Error())
		}
	}
	if len(list) > 0 {
		return status.Usagef("%s", strings.Join(slices.Compact(list), "\n"))
	}
	return nil
}

// initFrom prints a model file from a public codebook.
func (a *app) initFrom(path string, known skeleton.Known) error {
	described, unread, err := readCodebook(path)
	if err != nil {
		return status.With(status.Data, err)
	}
	if len(unread) > 0 {
		a.notef("%s: d3p init does not use %s (d3p init --help names the columns that it uses)", path, strings.Join(unread, ", "))
	}
	var names []string
	for _, d := range described {
		names = append(names, d.Name)
	}
	if a.interviewed() {
		return a.interview(described, known, "d3p.yaml")
	}
	text := skeleton.FromCodebook(described, known)
	from := "--formula, --family: "
	if known.Formula == "" {
		from = path + ": "
	}
	if err := mistakes(text, from); err != nil {
		return err
	}
	return a.result(map[string]any{"columns": names, "model": string(text)}, func(w io.Writer) { w.Write(text) })
}

// readCodebook reads a codebook; unread are its columns with unknown names.
func readCodebook(path string) (list []skeleton.Described, unread []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, atomicfile.Named(path, err)
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	lines := csv.NewReader(buffered)
	beginning, _ := buffered.Peek(buffered.Size())
	if header, _, _ := bytes.Cut(beginning, []byte("\n")); !bytes.Contains(header, []byte(",")) {
		lines.Comma = ';'
	}
	rows, err := lines.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: not a CSV file: %w", path, err)
	}
	if len(rows) < 2 {
		return nil, nil, fmt.Errorf("%s: no line describes a column", path)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))] = i
	}
	if _, ok := at["name"]; !ok {
		return nil, nil, fmt.Errorf("%s: no column name; a codebook has a line per column of the data", path)
	}
	for _, name := range []string{"missing", "missing_values", "na"} {
		if i, ok := at[name]; ok && counts(rows[1:], i) {
			delete(at, name)
			unread = append(unread, name)
		}
	}
	asked := map[string]bool{}
	for _, row := range rows[1:] {
		cell := func(names ...string) (text string) {
			for _, name := range names {
				asked[name] = true
				if i, ok := at[name]; ok {
					text = cmp.Or(text, strings.TrimSpace(row[i]))
				}
			}
			return text
		}
		list = append(list, skeleton.Described{
			Name: cell("name"), Type: cell("type"), Lower: cell("lower"), Upper: cell("upper"), Levels: cell("levels"),
			Center: cell("center"), By: cell("by"), Transform: cell("transform"), Unknown: cell("unknown"), Missing: cell("missing_codes", "missing", "missing_values", "missing_tokens", "na"), Source: cell("source"), Label: cell("label", "description"), Role: cell("role"),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		if !asked[name] && name != "" {
			unread = append(unread, name)
		}
	}
	return list, unread, nil
}

// counts reports whether column i of rows has numbers of missing values in place of their codes: a whole number in every row,
// of which one is 0.
func counts(rows [][]string, i int) bool {
	zero := false
	for _, row := range rows {
		n, err := strconv.ParseUint(strings.TrimSpace(row[i]), 10, 64)
		if err != nil {
			return false
		}
		zero = zero || n == 0
	}
	return zero
}

// maxHeader bounds the header line: a file without a line end is refused, not loaded.
const maxHeader = 1 << 20 // bytes

// readHeader returns the column names of a CSV or Parquet file (- is standard input), the
// settings of tensors that read columns of lists, and the separator of a CSV file. It reads
// nothing else of the file.
func readHeader(path, encoding string) (header []string, lists map[string]string, separator byte, err error) {
	f, err := os.Open(orStandardInput(path))
	if err != nil {
		return nil, nil, 0, atomicfile.Named(path, err)
	}
	defer f.Close()
	if strings.HasSuffix(path, ".parquet") {
		header, lists, err = parquetHeader(path, f)
		return header, lists, 0, err
	}
	if strings.HasSuffix(path, ".npy") {
		return nil, nil, 0, fmt.Errorf("%s: an array names no columns (declare it under data: tensors; d3p help keys lists their keys)", path)
	}
	line, err := firstLine(path, f, encoding)
	if err != nil {
		return nil, nil, 0, atomicfile.Named(path, err)
	}
	if ext := filepath.Ext(path); modelLine.MatchString(line) || ext == ".yaml" || ext == ".yml" {
		return nil, nil, 0, fmt.Errorf("%s: a model file, where init reads the names of a table (d3p init TABLE.csv > %[2]s; or d3p check %[2]s)", path, spell.Word(path))
	}
	separator = privacy.Separator([]byte(line))
	r := csv.NewReader(strings.NewReader(line))
	r.Comma = rune(separator)
	switch header, err = r.Read(); {
	case err == io.EOF:
		return nil, nil, 0, fmt.Errorf("%s: the file is empty (its first line must name the columns)", path)
	case err != nil:
		return nil, nil, 0, fmt.Errorf("%s: the header line is not CSV (%s)", path, cmp.Or(privacy.HeadAdvice([]byte(line)), "it must name the columns"))
	}
	if wrong := wrongHeader(header); wrong != "" {
		return nil, nil, 0, fmt.Errorf("%s: %s", path, wrong)
	}
	if advice := privacy.HeadAdvice([]byte(line)); advice != "" && len(header) > 1 {
		return nil, nil, 0, fmt.Errorf("%s: the header line is not CSV (%s)", path, advice)
	}
	return header, nil, separator, nil
}

// modelLine matches the first line of a model file.
var modelLine = regexp.MustCompile(`^d3p: *[0-9]+\s*$`)

// orStandardInput opens the file at path, or standard input for -.
func orStandardInput(path string) string {
	if path == "-" {
		return "/dev/stdin"
	}
	return path
}

// firstLine reads the first line of a CSV file that may have names, in UTF-8, without a byte
// order mark.
func firstLine(path string, f io.Reader, encoding string) (string, error) {
	text, err := privacy.Text(path, f, encoding)
	if err != nil {
		return "", err
	}
	lines := bufio.NewReader(io.LimitReader(text, maxHeader))
	line, err := lines.ReadString('\n')
	line = strings.TrimPrefix(line, "\ufeff")
	for err == nil && privacy.NoNames(bytes.TrimRight([]byte(line), "\r\n")) { // a fit skips it, too
		line, err = lines.ReadString('\n')
	}
	switch wide := privacy.UTF16([]byte(line)); {
	case err != nil && err != io.EOF:
		return "", err
	case wide != "":
		return "", errors.New("is text in UTF-16 that does not say so (--encoding " + wide + ")")
	case len(line) == maxHeader:
		return "", fmt.Errorf("no line end in the first %d bytes; is it a CSV file?", maxHeader)
	case strings.Contains(strings.TrimRight(line, "\r\n"), "\r"):
		return "", errors.New("its lines end in carriage returns alone (tr '\\r' '\\n' < FILE > NEW.csv)")
	case !utf8.ValidString(line) || strings.IndexByte(line, 0) >= 0:
		return "", errors.New("is not text in UTF-8 (Excel writes --encoding windows-1252 in Western Europe; or export CSV in UTF-8, or Parquet)")
	}
	return line, nil
}

// wrongHeader is the reason why a first line does not name columns; "" if it may name them.
func wrongHeader(header []string) string {
	if looksLikeRecord(header) {
		return "the first line holds numbers, like a record, which a model file must not quote; it must name the columns (put their names there; or use --from, and name all columns of the file under data: header: [...])"
	}
	for i, name := range header {
		if strings.TrimSpace(name) != "" && slices.Contains(header[:i], name) { // nameless ones are left out
			return fmt.Sprintf("columns %d and %d have the same name (rename one)", slices.Index(header, name)+1, i+1)
		}
	}
	return ""
}

// looksLikeRecord reports whether a first line has a number, date or time in any notation,
// apart from the number of its own column (counted from 0 or 1).
func looksLikeRecord(header []string) bool {
	for i, cell := range header {
		cell = strings.TrimSpace(cell)
		if place := cell == strconv.Itoa(i) || cell == strconv.Itoa(i+1); !place && valueOnly.MatchString(cell) {
			return true
		}
	}
	return false
}

// valueOnly matches text that starts like a number and has no letters but those of
// exponents and ISO times.
var valueOnly = regexp.MustCompile(`^[-+.,]?[0-9][-+.,:/0-9eETZ ]*$`)

func parquetHeader(path string, f *os.File) (header []string, lists map[string]string, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	file, err := parquet.Open(f, info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: not a readable Parquet file", path)
	}
	lists = map[string]string{}
	for _, c := range file.Columns() {
		header = append(header, c.Name)
		switch c.Kind {
		case parquet.List, parquet.Empties:
			lists[c.Name] = "tokens: 30000"
		case parquet.Words:
			lists[c.Name] = "text: words.txt"
		}
	}
	return header, lists, nil
}

func newRender(a *app) *cobra.Command {
	var core, tape bool
	c := &cobra.Command{
		Use:   "render MODEL",
		Short: "Print a model file with every default",
		Long: `Render prints the model file with every default: priors, links and settings as
they will be used. The word auto stands where the fit's plan decides. The output is
itself a model file.`,
		Example: "  d3p render cohort.yaml\n  d3p render cohort.yaml --core    # the formula as core blocks\n  d3p render cohort.yaml --tape    # the compiled program",
		Args:    exactly("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			if core && tape {
				return status.Usagef("--core, --tape: give one of the two")
			}
			m, err := modelfile.Load(args[0])
			if err != nil {
				return err
			}
			a.warn(m.Spec.Warnings)
			if tape {
				text := m.Likelihood.String()
				return a.result(map[string]string{"tape": text}, func(w io.Writer) { io.WriteString(w, text) })
			}
			text := m.Spec.Render()
			if core {
				var errs expr.Errors
				if text, errs = m.Spec.RenderCore(); len(errs) > 0 {
					return status.With(status.Spec, errs)
				}
			}
			return a.result(map[string]string{"model": string(text)}, func(w io.Writer) { w.Write(text) })
		},
	}
	c.Flags().BoolVar(&core, "core", false, "print the model in the core language")
	c.Flags().BoolVar(&tape, "tape", false, "print the compiled program instead, which runs for every record")
	return c
}
