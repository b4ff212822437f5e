package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/status"
	"d3p/internal/outputs"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/signature"
	"d3p/internal/verify"
)

func newVerify(a *app) *cobra.Command {
	var signers string
	c := &cobra.Command{
		Use:   "verify RUN",
		Short: "Check the files of a release, and that its claim follows from its event",
		Long: `Verify needs release/ only. It checks every file against the manifest and refuses
other files. It recomputes the price and every number of privacy.json from
dp_event.json. It writes the reports, the summary and the draws again from
params.json and spec.lock.yaml and compares them; another build of d3p may use other
words in a report, which verify reports without failing, but no other numbers.
Who made the release, only a signature says: --signers FILE checks MANIFEST.json.sig
against the keys that you trust, a line PRINCIPAL KEYTYPE KEY each. Without one
compare the SHA-256 of MANIFEST.json, which verify prints, with the maker's, over
another channel. It ends with status 4 if a check fails.`,
		Example: "  d3p verify d3p-run-cohort-1\n  d3p verify d3p-run-cohort-1/release --json",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			files, checks, err := verify.Release(c.Context(), args[0])
			if err != nil {
				return status.With(status.Usage, err)
			}
			if files != nil {
				defer files.Close()
				var list signature.Signers
				if signers != "" {
					if list, err = signature.ReadSigners(signers); err != nil {
						return status.Usagef("--signers: %w", err)
					}
				}
				if signed, ok := verify.Signature(files, list, time.Now()); ok {
					checks = append(checks, signed)
				}
				checks = append(checks, verifyAgain(files)...)
			}
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
			return status.With(status.Data, err)
		},
	}
	c.Flags().StringVar(&signers, "signers", "", "`FILE` of keys that may sign releases, as ssh-keygen -Y verify reads it: the release must be signed by one")
	return c
}

// printChecks prints a line per check; of the many files of idata.zarr that are as
// they should be, one for all. Each is compared with the manifest and written again.
func printChecks(w io.Writer, checks []verify.Check) {
	const zarr = "idata.zarr/"
	arrays := 0
	for _, c := range checks {
		switch {
		case !c.OK:
			fmt.Fprintf(w, "FAIL  %s: %s\n", c.Name, c.Detail)
		case strings.HasPrefix(c.Name, zarr):
			if !strings.HasSuffix(c.Name, writtenAgain) {
				arrays++
			}
		default:
			fmt.Fprintf(w, "ok    %s: %s\n", c.Name, c.Detail)
		}
	}
	if arrays > 0 {
		fmt.Fprintf(w, "ok    %s: %d files as in the manifest; written again, they are the same\n", zarr, arrays)
	}
}

// writtenAgain ends the name of a check of a file that is written again.
const writtenAgain = " says what the release says"

// verifyAgain writes again what follows from the rest of a release, and compares it.
func verifyAgain(files *release.Folder) (checks []verify.Check) {
	const name = "the release follows from its parameters"
	r, err := releasedIn(files)
	var again []release.File
	var draws outputs.Draws
	if err == nil {
		again, err = r.again()
	}
	if err == nil {
		draws, _, _, err = r.judged(r.drawn)
	}
	if err != nil {
		return []verify.Check{{Name: name, Detail: err.Error()}}
	}
	sameBuild := r.privacy.Tool.SHA256 == programHash()
	checks = append(checks, verify.Model(files, r.privacy, &r.params, r.model, draws, sameBuild))
	manifest, _ := files.Manifest()
	for _, e := range manifest.Files {
		i := slices.IndexFunc(again, func(f release.File) bool { return f.Name == e.Path })
		if i < 0 {
			continue
		}
		written, err := files.ReadFile(e.Path)
		if err != nil {
			continue // a check of the files has found it
		}
		c := verify.Check{Name: e.Path + writtenAgain}
		c.OK, c.Detail = verify.WrittenAgain(again[i], written, sameBuild)
		checks = append(checks, c)
	}
	return checks
}

// again are the files of a release as this program writes them from its parameters,
// its model and its report.
func (r *released) again() ([]release.File, error) {
	if r.marginals != nil {
		return r.againMarginals()
	}
	findings, err := r.findings()
	if err != nil {
		return nil, err
	}
	sample, err := r.sample(r.drawn)
	if err != nil {
		return nil, err
	}
	files := append(sample.Files(settings.FormatNames()), outputs.SummaryFile(findings.Rows, r.privacy.Banner))
	files = append(files, report.Table1Files(r.privacy)...)
	reports, err := r.reportsAgain(findings)
	return append(files, reports...), err
}

// reportsAgain are the forms of the report that the release has, and its README.
func (r *released) reportsAgain(findings report.Findings) (files []release.File, err error) {
	for _, format := range []string{"md", "html", "registry"} {
		if format == "registry" && !r.files.Has("registry.yaml") {
			continue
		}
		file, err := report.ReportFile(format, r.privacy, findings, r.model.Spec)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	manifest, _ := r.files.Manifest()
	var names []string
	for _, e := range manifest.Files {
		names = append(names, e.Path)
	}
	return append(files, report.ReadmeFile(r.privacy, names)), nil
}

// againMarginals is again for a release without posterior.
func (r *released) againMarginals() ([]release.File, error) {
	var none outputs.Draws
	findings := report.Findings{Rows: none.Summarise(), Overlays: report.Overlays(none, nil, report.Panels)}
	reports, err := r.reportsAgain(findings)
	return append([]release.File{outputs.SummaryFile(findings.Rows, r.privacy.Banner)}, reports...), err
}
