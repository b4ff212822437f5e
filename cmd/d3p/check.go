package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/atomicfile"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// checkResult is the JSON form of `d3p check`.
type checkResult struct {
	File       string        `json:"file"`
	Valid      bool          `json:"valid"`
	Parameters []string      `json:"parameters"`
	Latent     int           `json:"latent"` // unconstrained scalars
	Layers     []layerResult `json:"layers,omitempty"`
	Record     *recordCost   `json:"record,omitempty"` // of a model with networks
	Mistakes   []mistake     `json:"mistakes"`
	Warnings   []mistake     `json:"warnings"`
	DataCheck  string        `json:"data_check,omitempty"` // the private file with the counts of --data
}

// mistake is an error of a model file with its place.
type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func mistakesOf(errs spec.Errors) []mistake {
	list := make([]mistake, len(errs))
	for i, e := range errs {
		list[i] = mistake{e.File, e.Line, e.Column, e.Message, e.Hint}
	}
	return list
}

func newCheck(a *app) *cobra.Command {
	var data, out string
	c := &cobra.Command{
		Use:   "check MODEL",
		Short: "Report every mistake of a model file, or how records fit it",
		Long: `Check reads a model file and reports all its mistakes at once, each with
file:line:column and a hint. It reads no data.

With --data the custodian sees how the records fit the declaration before a fit
spends anything. For each column d3p counts cells that are missing, are not a
number or date, are out of bounds, have an undeclared level or are not UTF-8. It
also counts the records that contribute nothing because of such cells. The counts
describe records: d3p writes them to --out with mode 0600 and prints none of them.
FILE may be - for standard input. The counts may correct how values are written:
dates, decimals, encoding, the spelling of levels. Bounds or levels that follow the
counts cost privacy that no report counts.`,
		Example: `  d3p check cohort.yaml
  d3p check cohort.yaml --json
  d3p check cohort.yaml --data cohort.csv --out datacheck.json`,
		Args: exactly("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			if out != "" && data == "" {
				return usagef("--out: only with --data")
			}
			if data != "" && out == "" {
				return usagef("--out: missing: the private file that the counts go to, as in --out datacheck.json")
			}
			result := checkResult{File: args[0], Parameters: []string{}, Mistakes: []mistake{}, Warnings: []mistake{}, DataCheck: out}
			m, err := loadModel(args[0])
			if err == nil {
				err = checkAlone(m.Spec)
			}
			var errs spec.Errors
			if err != nil && !errors.As(err, &errs) {
				return err
			}
			result.Mistakes = mistakesOf(errs)
			if err != nil {
				if a.json {
					err = errors.Join(a.result(result, nil), err)
				}
				return failWith(statusSpec, err)
			}
			result.Valid, result.Latent = true, m.P
			result.Warnings = mistakesOf(m.Spec.Warnings)
			for i := range m.Params {
				result.Parameters = append(result.Parameters, m.Params[i].String())
			}
			result.Layers, result.Record = layersOf(m)
			a.warn(m.Spec.Warnings)
			if data != "" {
				if err := checkRecords(m, args[0], data, out); err != nil {
					return err
				}
			}
			return a.result(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s: no mistakes; %d parameters, %d unconstrained numbers: %s\n",
					args[0], len(m.Params), m.P, strings.Join(result.Parameters, ", "))
				printLayers(w, result.Layers, result.Record)
				if out != "" {
					fmt.Fprintf(w, "%s: how the records fit the declaration; as private as they are\n", out)
				}
			})
		},
	}
	c.Flags().StringVar(&data, "data", "", "also read the records in `FILE`, and count what the declared rules do to them")
	c.Flags().StringVar(&out, "out", "", "private `FILE` (JSON) for the counts of --data")
	return c
}

// checkRecords writes what the rules of the model at path do to the records in data
// into out, which only its owner can read. A malformed file has its counts, too.
func checkRecords(m *models.Model, path, data, out string) error {
	data = orStandardInput(data)
	if err := checkPublic(m, path, data); err != nil {
		return err
	}
	if err := checkPrivateOut(out, path, data); err != nil {
		return err
	}
	root, err := noise.System() // chooses among the rows of units that have too many
	if err != nil {
		return failWith(statusNumeric, err)
	}
	defer root.Wipe()
	var counts bytes.Buffer
	unreadable := privacy.NewTable(privacy.TableConfig{Data: data, Encoding: m.Encoding, Root: root}).WriteDataCheck(&counts)
	if counts.Len() > 0 {
		if err := atomicfile.Write(out, counts.Bytes(), 0o600); err != nil {
			return failWith(statusNumeric, fmt.Errorf("--out: %w", err))
		}
	}
	if unreadable != nil {
		return failWith(statusData, atomicfile.Named(data, unreadable))
	}
	return nil
}

// warn prints what is no mistake but worth a look.
func (a *app) warn(warnings spec.Errors) {
	for _, w := range warnings {
		a.notef("%s: warning: %s", w.Position, w.Message)
	}
}
