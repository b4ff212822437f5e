package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"d3p/internal/export"
	"d3p/internal/models"
)

// tablePaths are the names of n files of tables: out itself when n is 1, else
// out with -1 to -n before its extension. An out without extension gets that of
// the format. It reports an extension that is no format.
func tablePaths(out, format string, n int) ([]string, error) {
	if out == "" {
		return nil, nil
	}
	if filepath.Ext(out) == "" && format != "" {
		out += "." + format
	}
	if _, err := export.FormatOf(out); err != nil {
		return nil, usagef("--out: %w", err)
	}
	if n == 1 {
		return []string{out}, nil
	}
	ext := filepath.Ext(out)
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(out, ext), i+1, ext)
	}
	return paths, nil
}

// writeTable writes a table to a path of tablePaths, whole or not at all.
func writeTable(path string, t models.Table, privacy string, metadata map[string]string) error {
	format, err := export.FormatOf(path)
	if err != nil {
		return usagef("--out: %w", err)
	}
	var b bytes.Buffer
	if err := export.Write(&b, format, t, export.Options{Privacy: privacy, Metadata: metadata}); err != nil {
		return failWith(statusNumeric, err)
	}
	if err := writeOut(path, b.Bytes()); err != nil {
		return failWith(statusNumeric, fmt.Errorf("--out: %w", err))
	}
	return nil
}
