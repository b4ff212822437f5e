package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/released"
	"d3p/internal/signature"
	"d3p/internal/status"
	"d3p/internal/verify"
)

func newVerify(a *app) *cobra.Command {
	var signers string
	c := &cobra.Command{
		Use:   "verify RUN",
		Short: "Check the files of a release, and that its claim follows from its event",
		Long: `Verify needs release/ only. It checks every file against the manifest and refuses
other files. It recomputes the price and every number of privacy.json that follows
from dp_event.json, and plans the purchases again. It writes the reports, the summary
and the draws again from params.json and spec.lock.yaml and compares them; another
build of d3p may use other words in a report, which verify reports without failing,
but no other numbers.
Only a signature shows who made the release: --signers FILE checks MANIFEST.json.sig
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
				checks = append(checks, released.Verify(files, programHash())...)
			}
			err = a.result(checks, func(w io.Writer) { printChecks(w, checks) })
			return status.With(status.Data, errors.Join(err, failure(checks)))
		},
	}
	c.Flags().StringVar(&signers, "signers", "", "`FILE` of keys that may sign releases, as ssh-keygen -Y verify reads it: the release must be signed by one")
	return c
}

// failed lists the checks that do not hold.
func failed(checks []verify.Check) []verify.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c verify.Check) bool { return c.OK })
}

// failure returns an error that counts the checks that do not hold, or nil if all hold.
func failure(checks []verify.Check) error {
	if n := len(failed(checks)); n > 0 {
		return fmt.Errorf("%d of %d checks failed", n, len(checks))
	}
	return nil
}

// printChecks prints a line per check, and a single line for all sound files of idata.zarr.
func printChecks(w io.Writer, checks []verify.Check) {
	const zarr = "idata.zarr/"
	arrays := 0
	for _, c := range checks {
		switch {
		case !c.OK:
			fmt.Fprintf(w, "FAIL  %s: %s\n", c.Name, c.Detail)
		case strings.HasPrefix(c.Name, zarr):
			if !strings.HasSuffix(c.Name, released.Rewritten) {
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
