package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/atomicfile"
)

// fitKey names a fit of a task.
type fitKey struct {
	task, setting, variant string
	fit                    int
}

// fitResults are the metrics of fits. The file has a line for each metric, and is written after
// each fit: a stopped task goes on with the next one.
type fitResults struct {
	path    string // "": no file
	metrics map[fitKey]map[string]float64
	rows    [][]string
}

var resultColumns = []string{"task", "setting", "variant", "fit", "metric", "value"}

// openResults reads the file; a missing file has no fits.
func openResults(path string) (*fitResults, error) {
	r := &fitResults{path: path, metrics: map[fitKey]map[string]float64{}}
	if path == "" {
		return r, nil
	}
	header, cells, err := readCells(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil && !slices.Equal(header, resultColumns) {
		err = fmt.Errorf("%s: the columns are not %s (name another file)", path, strings.Join(resultColumns, ","))
	}
	if err != nil {
		return nil, err
	}
	for i, cell := range cells {
		k, errFit := strconv.Atoi(cell[3])
		value, errValue := strconv.ParseFloat(cell[5], 64)
		if err := errors.Join(errFit, errValue); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i+2, err)
		}
		r.add(fitKey{cell[0], cell[1], cell[2], k}, cell[4], value)
	}
	return r, nil
}

func (r *fitResults) add(k fitKey, metric string, value float64) {
	if r.metrics[k] == nil {
		r.metrics[k] = map[string]float64{}
	}
	r.metrics[k][metric] = value
	r.rows = append(r.rows, []string{k.task, k.setting, k.variant, strconv.Itoa(k.fit), metric, strconv.FormatFloat(value, 'g', -1, 64)})
}

// of is the metrics of fit k, measured unless they are known.
func (r *fitResults) of(k fitKey, measure func() (map[string]float64, error)) (map[string]float64, error) {
	if known, ok := r.metrics[k]; ok {
		return known, nil
	}
	metrics, err := measure()
	if err != nil || r.path == "" {
		return metrics, err
	}
	for metric, value := range metrics {
		r.add(k, metric, value)
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(resultColumns)
	w.WriteAll(r.rows)
	return metrics, atomicfile.Write(r.path, []byte(b.String()), 0o644)
}
