package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"d3p/internal/report"
)

// buildInfo identifies this program, from the record of the Go linker.
type buildInfo struct {
	Name     string `json:"name"`
	Version  string `json:"version"`          // module version, or "(devel)"
	Commit   string `json:"commit,omitempty"` // commit of the checkout
	Modified bool   `json:"modified"`         // whether the checkout had changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readBuildInfo never fails: fields without a record stay empty.
func readBuildInfo() buildInfo {
	b := buildInfo{Name: "d3p", Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// build identifies the source that this program was built from: by its commit, or by the
// program where no commit has the source.
func (b buildInfo) build() string {
	if b.Commit != "" && !b.Modified {
		return b.Version + " " + b.Commit
	}
	return programHash()
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, commit and platform",
		Example: "  d3p version --json",
		Args:    exactly(),
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// printVersion prints for d3p version and d3p --version.
func (a *app) printVersion() error {
	b := readBuildInfo()
	return a.result(b, func(w io.Writer) {
		fmt.Fprintf(w, "d3p %s\n", b.Version)
		if b.Commit != "" {
			suffix := ""
			if b.Modified {
				suffix = " with local changes"
			}
			fmt.Fprintf(w, "commit %s%s\n", b.Commit, suffix)
		}
		fmt.Fprintf(w, "%s %s\n", b.Go, b.Platform)
	})
}

// tool identifies this program in a report.
func tool(device string) report.Tool {
	b := readBuildInfo()
	return report.Tool{Name: b.Name, Version: b.Version, Commit: b.Commit, SHA256: programHash(), Go: b.Go, Device: device}
}

// programHash is the SHA-256 of the running program's file; "" when it cannot be
// read. It reads the file once, because that takes as long as a small fit.
var programHash = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
})
