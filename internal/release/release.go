// Package release writes the folder of a release, whole or not at all, and reads
// it back: only files that its manifest lists, only as it lists them.
package release

import (
	"io"

	"d3p/internal/jsonfile"
)

// File is one file of a release, written by its own function.
type File struct {
	Name    string // relative, with forward slashes
	Covered bool   // by the privacy claim: computed from released values only, not a declaration
	Write   func(io.Writer) error
}

// JSONFile is a file that holds v as indented JSON.
func JSONFile(name string, covered bool, v any) File {
	return File{name, covered, func(w io.Writer) error { return jsonfile.Write(w, v) }}
}

// Entry is the line of MANIFEST.json about a file.
type Entry struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Covered bool   `json:"covered_by_claim"`
}

// Manifest lists every other file of a release, except its signature.
type Manifest struct {
	SchemaVersion int     `json:"schema_version"`
	Privacy       string  `json:"privacy,omitempty"` // a banner, when the release is not private
	Files         []Entry `json:"files"`
}

// SchemaVersion is the version of MANIFEST.json and of the JSON files that it lists.
const SchemaVersion = 1

const (
	// ManifestName is the file that lists the others.
	ManifestName = "MANIFEST.json"
	// SignatureName is the signature of the manifest; it is no file of the manifest.
	SignatureName = "MANIFEST.json.sig"
)

// Limits of a release, because a hostile one could keep its verifier busy.
const (
	mostBytes    = 1 << 36 // of one file
	mostManifest = 1 << 24 // bytes
	MostInMemory = 1 << 33 // bytes of a file that is read as a whole
)
