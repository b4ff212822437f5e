// Package report writes what a fit leaves behind: the files of release/, which
// are covered by the privacy claim, and those of private/, which are not.
package report

import (
	"slices"
	"strings"

	"d3p/internal/release"
)

// File is one file of a release.
type File = release.File

// isDeclaration tells whether a file of a release is a declaration, which the
// claim is about and does not cover.
func isDeclaration(name string) bool {
	return name == LockName || strings.HasPrefix(name, publicFolder+"/")
}

// The files of a release that are named elsewhere, too.
const (
	privacyName = "privacy.json"
	paramsName  = "params.json"
	eventName   = "dp_event.json"
	SummaryName = "summary.csv"
	traceName   = "trace.parquet"
)

// always are the files that every release has.
var always = []string{privacyName, "privacy.md", "privacy.html", paramsName, SummaryName, LockName}

// isKnown tells whether a release of d3p may have a file of this name.
func isKnown(name string) bool {
	for _, f := range formats() {
		if slices.Contains(f.names, name) {
			return true
		}
	}
	return slices.Contains(always, name) || slices.Contains([]string{eventName, "registry.yaml", traceName, WeightsName}, name) ||
		strings.HasPrefix(name, publicFolder+"/") || strings.HasPrefix(name, zarrRoot+"/")
}
