package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// table is a numeric table: rows of len(header) numbers.
type table struct {
	header []string
	rows   [][]float64
}

// readCells reads a CSV file, gzipped if its name ends in .gz, as text.
func readCells(path string) (header []string, rows [][]string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, nil, err
		}
	}
	all, err := csv.NewReader(bufio.NewReader(r)).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return all[0], all[1:], nil
}

// bannerColumn marks a file of a run without privacy.
const bannerColumn = "privacy"

// readTable reads a CSV file of numbers, and leaves out a last column that is
// the banner of a run without privacy.
func readTable(path string) (table, error) {
	header, cells, err := readCells(path)
	if err != nil {
		return table{}, err
	}
	if last := len(header) - 1; header[last] == bannerColumn {
		header = header[:last]
		for i := range cells {
			cells[i] = cells[i][:last]
		}
	}
	t := table{header: header}
	for _, cell := range cells {
		row := make([]float64, len(cell))
		for j, c := range cell {
			if row[j], err = strconv.ParseFloat(c, 64); err != nil {
				return table{}, fmt.Errorf("%s: column %s: %w", path, header[j], err)
			}
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// index returns the position of each named column.
func index(header []string, names ...string) ([]int, error) {
	out := make([]int, len(names))
	for k, name := range names {
		out[k] = -1
		for j, h := range header {
			if h == name {
				out[k] = j
			}
		}
		if out[k] < 0 {
			return nil, fmt.Errorf("no column %s in %s", name, strings.Join(header, ","))
		}
	}
	return out, nil
}

func (t table) column(name string) ([]float64, error) {
	j, err := index(t.header, name)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(t.rows))
	for i, row := range t.rows {
		out[i] = row[j[0]]
	}
	return out, nil
}

func (t table) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, strings.Join(t.header, ","))
	for _, row := range t.rows {
		for j, v := range row {
			if j > 0 {
				w.WriteByte(',')
			}
			w.WriteString(strconv.FormatFloat(v, 'g', 12, 64))
		}
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// standardise z-scores column j of all rows with their own mean and standard
// deviation (divisor n), as the papers do. Not private: only for comparison.
func standardise(rows [][]float64, j int) {
	var mean, sd float64
	for _, r := range rows {
		mean += r[j]
	}
	mean /= float64(len(rows))
	for _, r := range rows {
		sd += (r[j] - mean) * (r[j] - mean)
	}
	sd = math.Sqrt(sd / float64(len(rows)))
	for _, r := range rows {
		r[j] = (r[j] - mean) / sd
	}
}

// readColumn reads one numeric column of a CSV file.
func readColumn(path, name string) ([]float64, error) {
	header, cells, err := readCells(path)
	if err != nil {
		return nil, err
	}
	j, err := index(header, name)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(cells))
	for i, row := range cells {
		if out[i], err = strconv.ParseFloat(row[j[0]], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return out, nil
}

// readSummary reads the mean of each variable of a summary.csv.
func readSummary(path string) (map[string]float64, error) {
	header, cells, err := readCells(path)
	if err != nil {
		return nil, err
	}
	j, err := index(header, "variable", "mean")
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, row := range cells {
		if out[row[j[0]]], err = strconv.ParseFloat(row[j[1]], 64); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// coefficient is a line of a summary with its 90 % interval.
type coefficient struct {
	mean, sd, low, high float64
	verdict             string // "" without privacy
}

// readCoefficients reads the lines of a summary.csv by variable.
func readCoefficients(path string) (map[string]coefficient, error) {
	header, cells, err := readCells(path)
	if err != nil {
		return nil, err
	}
	at, err := index(header, "variable", "mean", "sd", "q5", "q95")
	if err != nil {
		return nil, err
	}
	verdict := slices.Index(header, "verdict")
	found := make(map[string]coefficient)
	for _, row := range cells {
		c := coefficient{mean: number(row[at[1]]), sd: number(row[at[2]]), low: number(row[at[3]]), high: number(row[at[4]])}
		if verdict >= 0 {
			c.verdict = row[verdict]
		}
		found[row[at[0]]] = c
	}
	return found, nil
}

// command runs a program and returns its messages as the error.
func command(name string, args ...string) error {
	_, err := output(name, args...)
	return err
}

// output is what a program prints.
func output(name string, args ...string) ([]byte, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return out, nil
}
