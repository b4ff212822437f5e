// Package report writes what a fit leaves behind: the files of release/, which
// are covered by the privacy claim, and those of private/, which are not.
package report

import (
	"slices"
	"strings"

	"d3p/internal/outputs"
)

// IsDeclaration tells whether a file of a release is a declaration, which the
// claim is about and does not cover.
func IsDeclaration(name string) bool {
	return name == LockName || strings.HasPrefix(name, publicFolder+"/")
}

// The files of a release that are named elsewhere, too.
const (
	privacyName = "privacy.json"
	paramsName  = "params.json"
	EventName   = "dp_event.json"
)

// Always are the files that every release has.
var Always = []string{privacyName, "privacy.md", "privacy.html", paramsName, outputs.SummaryName, LockName}

// IsKnown tells whether a release of d3p may have a file of this name.
func IsKnown(name string) bool {
	return slices.Contains(Always, name) || slices.Contains([]string{EventName, "registry.yaml", outputs.TraceName, outputs.WeightsName}, name) ||
		strings.HasPrefix(name, publicFolder+"/") || outputs.IsDrawsFile(name)
}

// NotPrivate stamps every file of a run whose noise was fixed or left out.
const NotPrivate = "NOT PRIVATE"

// NotProtected stands in every file of private/.
const NotProtected = "NOT_PROTECTED"
