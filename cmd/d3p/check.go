package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/models/spec"
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
	return &cobra.Command{
		Use:   "check MODEL",
		Short: "Find every mistake of a model file; reads no data",
		Long: `Check reads a model file and reports all its mistakes at once, each with
file:line:column and a hint. It reads no data.`,
		Example: "  d3p check cohort.yaml\n  d3p check cohort.yaml --json",
		Args:    exactly("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			result := checkResult{File: args[0], Parameters: []string{}, Mistakes: []mistake{}, Warnings: []mistake{}}
			m, err := loadModel(args[0])
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
			return a.result(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s: no mistakes; %d parameters, %d unconstrained numbers: %s\n",
					args[0], len(m.Params), m.P, strings.Join(result.Parameters, ", "))
				printLayers(w, result.Layers, result.Record)
			})
		},
	}
}

// warn prints what is no mistake but worth a look.
func (a *app) warn(warnings spec.Errors) {
	for _, w := range warnings {
		a.notef("%s: warning: %s", w.Position, w.Message)
	}
}
