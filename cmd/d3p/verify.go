package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/report"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify RUN",
		Short: "Check the files of a release, and that its claim follows from its event",
		Long: `Verify needs release/ only. It checks every file against the manifest and refuses
other files. It recomputes the price and every number of privacy.json from
dp_event.json. It writes privacy.md and privacy.html again and compares them;
another build of d3p may use other words, which verify reports without failing.
Verify cannot know who made the release: compare the SHA-256 of MANIFEST.json, which
it prints, with the maker's, over another channel. It ends with status 4 if a check
fails.`,
		Example: "  d3p verify d3p-run-cohort-1\n  d3p verify d3p-run-cohort-1/release --json",
		Args:    exactly("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			checks, err := report.Verify(args[0])
			if err != nil {
				return failWith(statusUsage, err)
			}
			checks = append(checks, verifyReports(args[0])...)
			failed := 0
			for _, c := range checks {
				if !c.OK {
					failed++
				}
			}
			err = a.result(checks, func(w io.Writer) { printChecks(w, checks) })
			if failed > 0 {
				err = errors.Join(err, fmt.Errorf("%d of %d checks failed", failed, len(checks)))
			}
			return failWith(statusData, err)
		},
	}
}

// printChecks prints a line per check; of the many files of idata.zarr that are as
// they should be, one for all.
func printChecks(w io.Writer, checks []report.Check) {
	const zarr = "idata.zarr/"
	arrays := 0
	for _, c := range checks {
		switch {
		case !c.OK:
			fmt.Fprintf(w, "FAIL  %s: %s\n", c.Name, c.Detail)
		case strings.HasPrefix(c.Name, zarr):
			arrays++
		default:
			fmt.Fprintf(w, "ok    %s: %s\n", c.Name, c.Detail)
		}
	}
	if arrays > 0 {
		fmt.Fprintf(w, "ok    %s: %d files as in the manifest\n", zarr, arrays)
	}
}

// verifyReports writes the reports for people again, from the rest of the release.
func verifyReports(run string) (checks []report.Check) {
	r, findings, err := readFindings(run)
	for _, format := range []string{"md", "html"} {
		c := report.Check{Name: "privacy." + format + " says what the release says"}
		if err == nil {
			c.OK, c.Detail, err = verifyReport(r, findings, format)
		}
		if err != nil {
			c.Detail = err.Error()
		}
		checks = append(checks, c)
	}
	return checks
}

// verifyReport writes the report of one format again and compares it with the
// release's. What another build wrote may differ in its words.
func verifyReport(r *released, findings report.Findings, format string) (ok bool, detail string, err error) {
	file, err := report.ReportFile(format, r.privacy, findings, r.model.Spec)
	if err != nil {
		return false, "", err
	}
	var again bytes.Buffer
	if err := file.Write(&again); err != nil {
		return false, "", err
	}
	written, err := os.ReadFile(filepath.Join(report.ReleaseFolder(r.dir), file.Name))
	switch {
	case err != nil:
		return false, "", err
	case bytes.Equal(again.Bytes(), written):
		return true, "written again, it is the same", nil
	case r.privacy.Tool.SHA256 != programHash():
		return true, "not compared: another build of d3p wrote it (d3p report writes it again)", nil
	}
	return false, "written again, it is another (d3p report writes it again)", nil
}
