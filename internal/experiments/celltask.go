package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"d3p/internal/privacy/noise"
)

// cellTask counts, in every cell, how many 90 % intervals hold the true parameters. Every
// fit is one run of the program, so the intervals are those of a user. A file (-results)
// keeps the result of every fit, and such a fit is not repeated.
type cellTask struct{}

// setting is one cell with the family, size and price of its fits. Epsilon 0 is a
// fit without privacy.
type cellSetting struct {
	family  family
	cell    cell
	records int
	epsilon float64
	first   int // number of the first table
}

// bare is s without privacy.
func (s cellSetting) bare() cellSetting {
	s.epsilon = 0
	return s
}

func (s cellSetting) label() string {
	return fmt.Sprintf("%s %s N %d", s.family.name, s.cell.name, s.records)
}

// interval is a fit's result for a parameter.
type interval struct {
	key                      cellKey
	parameter                string
	truth, mean, sd, q5, q95 float64
	verdict                  string
	seconds                  float64 // of the whole fit
}

// cellKey names a fit.
type cellKey struct {
	family, cell string
	records      int
	epsilon      float64
	table        int
}

func (s cellSetting) key(table int) cellKey {
	return cellKey{s.family.name, s.cell.name, s.records, s.epsilon, s.first + table}
}

// settings returns the settings of the options.
func (cellTask) settings(opt options) ([]cellSetting, error) {
	records, err := numbers(opt.records, "300,1000,10000,100000")
	if err != nil {
		return nil, err
	}
	epsilons, err := numbers(opt.epsilons, "0.3,1,4")
	if err != nil {
		return nil, err
	}
	var list []cellSetting
	for _, f := range families {
		for _, n := range records {
			for _, c := range cells {
				if !asked(opt.models, f.name) || !asked(opt.cells, c.name) || !c.has(f) {
					continue
				}
				for _, e := range epsilons {
					list = append(list, cellSetting{f, c, int(n), e, opt.first})
				}
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no such cell (models: %s; cells: %s)", names(families, func(f family) string { return f.name }), names(cells, func(c cell) string { return c.name }))
	}
	return list, nil
}

func names[T any](list []T, name func(T) string) string {
	var words []string
	for _, x := range list {
		words = append(words, name(x))
	}
	return strings.Join(words, ",")
}

// judge implements experiment.
func (t cellTask) judge(opt options, _ []threshold, dir string, out *report) error {
	settings, err := t.settings(opt)
	if err != nil {
		return err
	}
	opt.tables = cmp.Or(opt.tables, 20)
	path := cmp.Or(opt.results, filepath.Join(dir, "intervals.csv"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	known, err := readIntervals(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	// All epsilons and the fits without privacy use the same tables.
	var failures []error
	for _, s := range settings {
		failed := len(failures)
		for _, work := range []struct {
			cellSetting
			tables int
		}{{s, opt.tables}, {s.bare(), min(opt.references, opt.tables)}} {
			failures = append(failures, work.fits(opt, known, work.tables, dir, file)...)
		}
		if failed = len(failures) - failed; failed > 0 { // the next cells go on
			out.note(s.label(), strconv.FormatFloat(s.epsilon, 'g', -1, 64), fmt.Sprintf("FAILED: %d fits", failed))
		} else {
			summariseCell(out, s, known, opt)
		}
		out.w.Flush()
	}
	return errors.Join(failures...)
}

// fits runs the missing fits of a setting, -parallel at a time, and writes their
// intervals. It returns an error for each fit that failed, or has not converged.
func (s cellSetting) fits(opt options, known map[cellKey][]interval, tables int, dir string, file io.Writer) []error {
	var wait sync.WaitGroup
	var lock sync.Mutex
	var errs []error
	free := make(chan struct{}, max(opt.parallel, 1))
	for k := range tables {
		if _, done := known[s.key(k)]; done {
			continue
		}
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			list, err := s.fit(opt, k, filepath.Join(dir, strconv.Itoa(k)))
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("%s epsilon %g table %d: %w", s.label(), s.epsilon, s.first+k, err))
				return
			}
			known[s.key(k)] = list
			writeIntervals(file, list)
		})
	}
	wait.Wait()
	return errs
}

// seed is the seed of table k, the same for every epsilon.
func (s cellSetting) seed(k int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%d/%d", s.family.name, s.cell.name, s.records, s.first+k)
	return h.Sum64() >> 1
}

// fit draws table k and fits it with the program.
func (s cellSetting) fit(opt options, k int, dir string) ([]interval, error) {
	t, truth := s.cell.draw(s.family, s.records, noise.NewRandom(noise.Public(s.seed(k)).Stream(noise.Simulation)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	model, data, run := filepath.Join(dir, "model.yaml"), filepath.Join(dir, "table.csv"), filepath.Join(dir, "run")
	if err := os.WriteFile(model, []byte(s.cell.model(s.family, s.records, limitOf(t), s.epsilon)), 0o644); err != nil {
		return nil, err
	}
	if err := t.write(data); err != nil {
		return nil, err
	}
	os.RemoveAll(run)
	if opt.keep == "" {
		defer os.RemoveAll(dir)
	}
	args := append(s.arguments(opt, k), "--model", model, "--out", run, "--quiet", "--formats", "csv", "--threads", "1", data)
	start := time.Now()
	if err := command(opt.d3p, args...); err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	return s.read(k, truth, seconds, filepath.Join(run, "release", "summary.csv"))
}

// arguments are the command for table k. Its seeds are the same in every run that has this
// table.
func (s cellSetting) arguments(opt options, k int) []string {
	args := []string{"fit-nonprivate", "--method", "nuts"}
	if s.epsilon > 0 {
		args = []string{"fit", "--epsilon", strconv.FormatFloat(s.epsilon, 'g', -1, 64), "--insecure-noise-seed", strconv.FormatUint(s.seed(k)%1e6+1, 10)}
		args = append(args, strings.Fields(opt.fit)...)
	}
	return append(args, "--init-seed", strconv.Itoa(s.first+k))
}

// read reads the intervals of a fit.
func (s cellSetting) read(k int, truth map[string]float64, seconds float64, path string) ([]interval, error) {
	found, err := readCoefficients(path)
	if err != nil {
		return nil, err
	}
	var list []interval
	for _, name := range slices.Sorted(maps.Keys(truth)) {
		of := name
		if s.cell.bought { // per unit of the file, which is the true standard deviation
			of = strings.Replace(of, "b[", "b_raw[", 1)
			of = strings.Replace(of, "Intercept", "Intercept_raw", 1)
			of = strings.Replace(of, "thresholds[", "thresholds_raw[", 1)
		}
		if c, ok := found[of]; ok {
			list = append(list, interval{s.key(k), name, truth[name], c.mean, c.sd, c.low, c.high, c.verdict, seconds})
		}
	}
	if len(list) != len(truth) {
		return nil, fmt.Errorf("%s has %d of %d parameters", path, len(list), len(truth))
	}
	return list, nil
}

// writeIntervals writes a line for each interval: family, cell, records, epsilon, table,
// parameter, truth, mean, sd, q5, q95, verdict, seconds. readIntervals reads these lines.
func writeIntervals(w io.Writer, list []interval) {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, "%s,%s,%d,%g,%d,%q,%g,%g,%g,%g,%g,%s,%.3f\n", x.key.family, x.key.cell, x.key.records, x.key.epsilon, x.key.table,
			x.parameter, x.truth, x.mean, x.sd, x.q5, x.q95, x.verdict, x.seconds)
	}
	io.WriteString(w, b.String())
}

func readIntervals(path string) (map[cellKey][]interval, error) {
	known := map[cellKey][]interval{}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 13
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w (remove its last line, or the file)", path, err)
	}
	for _, row := range rows {
		k := cellKey{row[0], row[1], int(number(row[2])), number(row[3]), int(number(row[4]))}
		known[k] = append(known[k], interval{k, row[5], number(row[6]), number(row[7]), number(row[8]), number(row[9]), number(row[10]), row[11], number(row[12])})
	}
	return known, nil
}

// kind is a parameter's kind: the name before its index.
func (x interval) kind() string {
	kind, _, _ := strings.Cut(x.parameter, "[")
	return kind
}

func (x interval) held() bool { return x.q5 <= x.truth && x.truth <= x.q95 }

// wrongSign: the interval excludes zero on the wrong side.
func (x interval) wrongSign() bool {
	switch x.kind() {
	case "b", "r_site":
		return x.q5 > 0 && x.truth < 0 || x.q95 < 0 && x.truth > 0
	}
	return false
}

// logScore is the log density of the truth, in units of unit, under a normal with the
// interval's mean and sd, up to a constant; for positive parameters the log density of
// the logarithm, whose normal has the interval's ends.
func (x interval) logScore(unit float64) float64 {
	mean, sd, truth := x.mean/unit, x.sd/unit, x.truth/unit
	switch x.kind() {
	case "sigma", "phi", "sd_site":
		low, high := math.Log(x.q5), math.Log(x.q95)
		mean, sd, truth = (low+high)/2, (high-low)/(2*reach), math.Log(x.truth)
	}
	z := (truth - mean) / sd
	return -z*z/2 - math.Log(sd)
}

// summariseCell prints the line of a cell, and one of each kind of parameter if
// -kinds asks for them.
func summariseCell(out *report, s cellSetting, known map[cellKey][]interval, opt options) {
	byKind := map[string][][]interval{} // kind -> table -> intervals
	all := make([][]interval, 0, opt.tables)
	var seconds float64
	for k := range opt.tables {
		list := known[s.key(k)]
		all = append(all, list)
		seconds += list[0].seconds / float64(opt.tables)
		for _, kind := range kindsOf(list) {
			byKind[kind] = append(byKind[kind], only(list, kind))
		}
	}
	worstKind, worstShare := "", 2.0
	kinds := slices.Sorted(maps.Keys(byKind))
	for _, kind := range kinds {
		if share, _ := coverage(byKind[kind]); share < worstShare {
			worstKind, worstShare = kind, share
		}
	}
	line := s.words(known, all, opt)
	if len(kinds) > 1 {
		_, se := coverage(byKind[worstKind])
		line += fmt.Sprintf(", least: %s %.0f ± %.0f %%", worstKind, 100*worstShare, 100*se)
	}
	out.note(s.label(), strconv.FormatFloat(s.epsilon, 'g', -1, 64), fmt.Sprintf("%s, %.1f s", line, seconds))
	if opt.kinds {
		for _, kind := range kinds {
			out.note("  "+kind, "", s.words(known, byKind[kind], opt))
		}
	}
}

func kindsOf(list []interval) []string {
	kinds := map[string]bool{}
	for _, x := range list {
		kinds[x.kind()] = true
	}
	return slices.Sorted(maps.Keys(kinds))
}

func only(list []interval, kind string) (out []interval) {
	for _, x := range list {
		if x.kind() == kind {
			out = append(out, x)
		}
	}
	return out
}

// words are the numbers of the intervals of tables.
func (s cellSetting) words(known map[cellKey][]interval, tables [][]interval, opt options) string {
	held, se := coverage(tables)
	line := fmt.Sprintf("%.0f ± %.0f %% hold", 100*held, 100*se)
	line += s.widthWords(known, tables, opt)
	var scores []float64
	wrong, signs, resolved, verdicts := 0, 0, 0, 0
	called, calledHeld := map[string]int{}, map[string]int{} // intervals by verdict, and those that hold
	units := s.cell.units()
	for _, list := range tables {
		var sum float64
		for _, x := range list {
			unit, scaled := units[x.parameter]
			if !scaled {
				unit = 1
			}
			sum += x.logScore(unit) / float64(len(list))
			if x.wrongSign() {
				wrong++
				if x.verdict == "resolved" {
					resolved++
				}
			}
			if k := x.kind(); k == "b" || k == "r_site" {
				signs++
			}
			if x.verdict != "" {
				verdicts++
			}
			called[x.verdict]++
			if x.held() {
				calledHeld[x.verdict]++
			}
		}
		scores = append(scores, sum)
	}
	score, ofScore := meanSE(scores)
	line += fmt.Sprintf(", log score %.2f ± %.2f", score, ofScore)
	if signs > 0 {
		line += fmt.Sprintf(", wrong signs %d of %d", wrong, signs)
		if verdicts > 0 {
			line += fmt.Sprintf(" (%d called resolved)", resolved)
		}
	}
	for _, verdict := range []string{"resolved", "partly"} {
		if n := called[verdict]; n > 0 {
			line += fmt.Sprintf(", of %d called %s %.0f %% hold", n, verdict, 100*float64(calledHeld[verdict])/float64(n))
		}
	}
	return line
}

// widthWords compare widths, parameter by parameter in effects of a true standard
// deviation, with those in the cell declared right, and with those without privacy.
func (s cellSetting) widthWords(known map[cellKey][]interval, tables [][]interval, opt options) (line string) {
	right := s
	right.cell = cells[0]
	bare := s.bare()
	if w := s.widthAgainst(right, known, tables, opt.tables); s.cell.by != 1 && w > 0 {
		line += fmt.Sprintf(", width %.2f of right", w)
	}
	if w := s.widthAgainst(bare, known, tables, opt.tables); s.epsilon > 0 && w > 0 {
		line += fmt.Sprintf(", %.2f of non-private (%.0f %% of these hold)", w, 100*bare.share(known, tables))
	}
	return line
}

// share is the share of the setting's intervals that hold, for the kinds of parameters in
// tables. Unlucky tables lower it as they lower that of private fits.
func (s cellSetting) share(known map[cellKey][]interval, tables [][]interval) float64 {
	var of [][]interval
	for k, list := range tables {
		kinds := kindsOf(list)
		var same []interval
		for _, x := range known[s.key(k)] {
			if slices.Contains(kinds, x.kind()) {
				same = append(same, x)
			}
		}
		if same != nil {
			of = append(of, same)
		}
	}
	share, _ := coverage(of)
	return share
}

// coverage is the share of intervals that hold the truth, and its standard error: that of
// independent intervals or of the spread between tables, whichever is larger.
func coverage(tables [][]interval) (share, se float64) {
	var n, held float64
	var perTable []float64
	for _, list := range tables {
		var h float64
		for _, x := range list {
			if x.held() {
				h++
			}
		}
		perTable = append(perTable, h/float64(len(list)))
		held, n = held+h, n+float64(len(list))
	}
	share = held / n
	_, se = meanSE(perTable)
	return share, max(se, math.Sqrt(share*(1-share)/n))
}

// widthAgainst is the mean width of the tables' intervals divided by that of another
// setting's, over parameters whose unit both settings have; 0 if there are none. Against
// fits of the same tables it takes the tables that both have.
func (s cellSetting) widthAgainst(other cellSetting, known map[cellKey][]interval, tables [][]interval, n int) float64 {
	units, others := s.cell.units(), other.cell.units()
	wanted := map[string]bool{}
	for _, list := range tables {
		for _, x := range list {
			wanted[x.parameter] = true
		}
	}
	sums := [2]map[string]float64{{}, {}}
	counts := [2]map[string]float64{{}, {}}
	add := func(side int, key cellKey, units map[string]float64) {
		for _, x := range known[key] {
			unit, scaled := units[x.parameter]
			if !scaled {
				unit = 1
				// The intercept is about the declared centre.
				if s.cell.by == 0 && other.cell.by != 0 && (x.kind() == "Intercept" || x.kind() == "thresholds") {
					continue
				}
			}
			if wanted[x.parameter] {
				sums[side][x.parameter] += (x.q95 - x.q5) / unit
				counts[side][x.parameter]++
			}
		}
	}
	for k := range n {
		if _, ok := known[other.key(k)]; !ok {
			continue
		}
		add(0, s.key(k), units)
		add(1, other.key(k), others)
	}
	var logs, m float64
	for name, sum := range sums[0] {
		if o := sums[1][name]; o > 0 {
			logs += math.Log(sum / counts[0][name] / (o / counts[1][name]))
			m++
		}
	}
	if m == 0 {
		return 0
	}
	return math.Exp(logs / m)
}

// units are the declared scales of the coefficients.
func (c cell) units() map[string]float64 {
	units := map[string]float64{}
	for _, u := range c.covariates() {
		units["b["+u.name+"]"] = u.by
	}
	return units
}
