package main

import (
	"io"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/status"
	"d3p/internal/models/expr"
)

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
