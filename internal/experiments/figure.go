package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/report/figure"
)

// figureTask draws a figure: panels of measured curves beside published ones. Its fits are
// rows of NAME.csv and are not repeated; NAME.svg and NAME.png show their means.
type figureTask struct {
	name      string
	panels    func(shared string) ([]panel, error)
	fits      int  // at each point of a curve
	simulated bool // needs no public data
	timed     bool // its fits are times: those of another processor are measured again
}

// panel is a drawing of one frame.
type panel struct {
	title, x, y string
	log         bool // the axis of x
	curves      []curve
	published   []figure.Series
	fits        int // at each point of a curve; 0: as many as the figure has
}

// curve is a series of fits: measure makes fit number k at x in a folder of its own.
type curve struct {
	name    string
	places  []float64
	measure func(opt options, x float64, k int, dir string) (float64, error)
}

// fitted is a row of a figure's file.
type fitted struct {
	panel, curve    string
	x               float64
	fit             int
	value           float64
	commit, machine string
}

func (f figureTask) judge(opt options, _ []threshold, dir string, out *report) error {
	panels, err := f.panels(opt.shared)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(opt.figures, 0o755); err != nil {
		return err
	}
	path := filepath.Join(opt.figures, f.name)
	rows, err := readFitted(path + ".csv")
	if err != nil {
		return err
	}
	if f.timed {
		rows = slices.DeleteFunc(rows, func(r fitted) bool { return r.machine != processor() })
	}
	fits := f.fits
	if opt.runs > 0 {
		fits = opt.runs
	}
	rows, failures := f.measure(opt, panels, rows, fits, path+".csv", dir)
	page := f.page(panels, rows, out)
	for _, format := range figure.Formats() {
		file, err := os.Create(path + "." + format)
		if err != nil {
			return errors.Join(failures, err)
		}
		if err := errors.Join(page.Write(file, format), file.Close()); err != nil {
			return errors.Join(failures, err)
		}
	}
	return failures
}

// measure adds the fits that rows lacks, and writes the rows to path after each. After a fit
// that fails it goes on with the next, unless a file is missing; the error names all that
// failed.
func (f figureTask) measure(opt options, panels []panel, rows []fitted, fits int, path, dir string) ([]fitted, error) {
	var failures []error
	here := fitted{commit: commit(), machine: processor()}
	for k := range fits { // each point once, then again: a stopped figure is complete, with wider bars
		for _, p := range panels {
			if p.fits > 0 && k >= p.fits {
				continue
			}
			for _, c := range p.curves {
				for _, x := range c.places {
					row := here
					row.panel, row.curve, row.x, row.fit = p.title, c.name, x, k
					if slices.ContainsFunc(rows, row.sameFit) {
						continue
					}
					name := fmt.Sprintf("%s, %s at %g, fit %d of %d", p.title, c.name, x, k+1, fits)
					fmt.Fprintf(os.Stderr, "%s: %s\n", f.name, name)
					var err error
					row.value, err = c.measureIn(filepath.Join(dir, "fit"), opt, x, k)
					if err != nil {
						failures = append(failures, fmt.Errorf("%s: %w", name, err))
						fmt.Fprintln(os.Stderr, "failed:", err)
						if errors.Is(err, fs.ErrNotExist) { // the data are missing, for all of them
							return rows, errors.Join(failures...)
						}
						continue
					}
					rows = append(rows, row)
					if err := writeFitted(path, rows); err != nil {
						return rows, errors.Join(append(failures, err)...)
					}
				}
			}
		}
	}
	return rows, errors.Join(failures...)
}

// measureIn makes a fit in a new folder, and removes the folder.
func (c curve) measureIn(dir string, opt options, x float64, k int) (value float64, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return c.measure(opt, x, k, dir)
}

// page draws the means of rows beside what was published, and notes them.
func (f figureTask) page(panels []panel, rows []fitted, out *report) figure.Page {
	var page figure.Page
	for _, p := range panels {
		var all []figure.Series
		for _, c := range p.curves {
			s := figure.Series{Name: c.name}
			for _, x := range c.places {
				var values []float64
				for _, row := range rows {
					if row.panel == p.title && row.curve == c.name && row.x == x {
						values = append(values, row.value)
					}
				}
				if len(values) == 0 { // all fits failed
					continue
				}
				mean, se := meanSE(values)
				if len(values) < 2 {
					se = 0
				}
				s.Points = append(s.Points, figure.Measured{X: x, Mean: mean, SE: se})
				out.note(f.name, strconv.FormatFloat(x, 'g', -1, 64), fmt.Sprintf("%s, %s\t%.4f\t%.4f\t%d", p.title, c.name, mean, se, len(values)))
			}
			all = append(all, s)
		}
		for _, s := range p.published {
			for _, at := range s.Points {
				out.note(f.name, strconv.FormatFloat(at.X, 'g', -1, 64), fmt.Sprintf("%s, %s\t%.4f\t%.4f", p.title, s.Name, at.Mean, at.SE))
			}
			all = append(all, s)
		}
		page.Figures = append(page.Figures, figure.Compared(p.title, p.x, p.y, p.log, all))
	}
	return page
}

// sameFit reports whether two rows are of the same fit.
func (a fitted) sameFit(b fitted) bool {
	return a.panel == b.panel && a.curve == b.curve && a.x == b.x && a.fit == b.fit
}

// fittedColumns are the columns of a figure's file.
var fittedColumns = []string{"panel", "curve", "x", "fit", "value", "commit", "processor"}

// readFitted reads a figure's file; a missing file has no rows.
func readFitted(path string) ([]fitted, error) {
	header, cells, err := readCells(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.Equal(header, fittedColumns) {
		return nil, fmt.Errorf("%s: the columns are not %s (move the file away)", path, strings.Join(fittedColumns, ","))
	}
	rows := make([]fitted, len(cells))
	for i, cell := range cells {
		rows[i] = fitted{panel: cell[0], curve: cell[1], x: number(cell[2]), fit: int(number(cell[3])), value: number(cell[4]), commit: cell[5], machine: cell[6]}
		if r := rows[i]; math.IsNaN(r.x + r.value) {
			return nil, fmt.Errorf("%s: line %d: a number is missing", path, i+2)
		}
	}
	return rows, nil
}

// writeFitted replaces a figure's file.
func writeFitted(path string, rows []fitted) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(fittedColumns)
	for _, r := range rows {
		w.Write([]string{r.panel, r.curve, strconv.FormatFloat(r.x, 'g', -1, 64), strconv.Itoa(r.fit), strconv.FormatFloat(r.value, 'g', 8, 64), r.commit, r.machine})
	}
	w.Flush()
	return atomicfile.Write(path, []byte(b.String()), 0o644)
}

// commit is the commit of the working tree; empty outside of a repository.
func commit() string {
	out, err := output("git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// processor is the name of the processor; empty if the system does not give it.
func processor() string {
	raw, _ := os.ReadFile("/proc/cpuinfo")
	_, name, _ := strings.Cut(string(raw), "model name")
	name, _, _ = strings.Cut(name, "\n")
	return strings.Trim(name, " \t:")
}
