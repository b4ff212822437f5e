package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"d3p/internal/report"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify RUN",
		Short: "Check a release: its files, and that its claim follows from its event",
		Long: `Verify needs release/ alone. It checks every file against the manifest, that
there is no other file, and computes the price again from dp_event.json. It ends
with status 4 when something does not hold.`,
		Example: "  d3p verify d3p-run-cohort-1\n  d3p verify d3p-run-cohort-1/release --json",
		Args:    exactly("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			checks, err := report.Verify(args[0])
			if err != nil {
				return failWith(statusUsage, err)
			}
			failed := 0
			for _, c := range checks {
				if !c.OK {
					failed++
				}
			}
			err = a.result(checks, func(w io.Writer) {
				for _, c := range checks {
					mark := "ok  "
					if !c.OK {
						mark = "FAIL"
					}
					fmt.Fprintf(w, "%s  %s: %s\n", mark, c.Name, c.Detail)
				}
			})
			if failed > 0 {
				err = errors.Join(err, fmt.Errorf("%d of %d checks failed", failed, len(checks)))
			}
			return failWith(statusData, err)
		},
	}
}
