package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/models/spec"
)

// initFrom prints a model file from a public codebook.
func (a *app) initFrom(path string, known spec.Known) error {
	described, err := readCodebook(path)
	if err != nil {
		return failWith(statusData, err)
	}
	var names []string
	for _, d := range described {
		names = append(names, d.Name)
	}
	text := spec.FromCodebook(described, known)
	return a.result(map[string]any{"columns": names, "model": string(text)}, func(w io.Writer) { w.Write(text) })
}

// readCodebook reads a codebook; columns that it does not know are ignored.
func readCodebook(path string) (list []spec.Described, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, atomicfile.Named(path, err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: not a CSV file: %w", path, err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s: no line describes a column", path)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))] = i
	}
	if _, ok := at["name"]; !ok {
		return nil, fmt.Errorf("%s: no column name; a codebook has a line per column of the data", path)
	}
	for _, row := range rows[1:] {
		cell := func(name string) string {
			if i, ok := at[name]; ok {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		list = append(list, spec.Described{
			Name: cell("name"), Type: cell("type"), Lower: cell("lower"), Upper: cell("upper"), Levels: cell("levels"),
			Center: cell("center"), By: cell("by"), Transform: cell("transform"), Unknown: cell("unknown"), Source: cell("source"), Label: cmp.Or(cell("label"), cell("description")),
		})
	}
	return list, nil
}
