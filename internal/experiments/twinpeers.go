package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// peers writes the public cells of the training table for other programs, and measures the
// tables that they made from them. It writes NAME-cells.csv and NAME-domain.json into the
// folder -peers and reads NAME-PROGRAM-EPSILON.csv there. testdata/peers.py runs MST and
// AIM.
func (s twinSource) peers(opt options, t *publicTable, out *report) error {
	if opt.peers == "" {
		return nil
	}
	path := filepath.Join(opt.peers, s.name)
	if err := t.train.write(path+"-cells.csv", path+"-domain.json"); err != nil {
		return err
	}
	made, err := filepath.Glob(path + "-*-*.csv")
	if err != nil {
		return err
	}
	for _, file := range made {
		twin, err := t.train.like(file)
		if err != nil {
			return err
		}
		line, err := s.measured(t, twin)
		if err != nil {
			return err
		}
		program, epsilon, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(file, path+"-"), ".csv"), "-")
		out.note(s.name+", "+program, epsilon, line)
	}
	return nil
}

// write writes cells as numbers, and their number by column.
func (d discretised) write(cells, domain string) error {
	rows := make([][]string, len(d.cells[0]))
	for i := range rows {
		for k := range d.cells {
			rows[i] = append(rows[i], fmt.Sprint(d.cells[k][i]))
		}
	}
	if err := writeCells(cells, d.names, rows); err != nil {
		return err
	}
	sizes := make(map[string]int)
	for k, name := range d.names {
		sizes[name] = d.sizes[k]
	}
	text, err := json.Marshal(sizes)
	if err != nil {
		return err
	}
	return os.WriteFile(domain, text, 0o644)
}

// like reads cells that are written as numbers.
func (d discretised) like(path string) (discretised, error) {
	header, rows, err := readCells(path)
	if err != nil {
		return d, err
	}
	if !slices.Equal(header, d.names) {
		return d, fmt.Errorf("%s: its columns are not those of the table", path)
	}
	d.cells = make([][]int32, len(header))
	for i, row := range rows {
		for k, text := range row {
			var cell int32
			if _, err := fmt.Sscan(text, &cell); err != nil || cell < 0 || int(cell) >= d.sizes[k] {
				return d, fmt.Errorf("%s:%d: %s is not a cell of %s", path, i+2, text, header[k])
			}
			d.cells[k] = append(d.cells[k], cell)
		}
	}
	return d, nil
}
