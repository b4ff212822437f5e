package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"d3p/cmd/d3p/internal/manual"
	"d3p/internal/status"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

const manFolder = "../../docs/man"

// TestManPages checks that docs/man holds what the commands say of themselves;
// make docs runs it with -update.
func TestManPages(t *testing.T) {
	root := newRoot(&app{out: io.Discard, err: io.Discard})
	root.Long += "\n\n" + status.Table // which help prints at its end
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	generated := t.TempDir()
	epoch := time.Unix(0, 0).UTC()
	header := &doc.GenManHeader{Section: "1", Source: "d3p", Manual: "d3p manual", Date: &epoch}
	if err := doc.GenManTree(root, header, generated); err != nil {
		t.Fatal(err)
	}
	for _, page := range manual.Topics() { // which GenManTree leaves out
		c, _, err := root.Find([]string{page.Name})
		if err == nil {
			topic := *header
			topic.Title, c.Long = "D3P-"+strings.ToUpper(page.Name), page.Text()
			err = writeMan(c, &topic, filepath.Join(generated, "d3p-"+page.Name+".1"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pages := names(t, generated)
	if *update {
		if err := os.MkdirAll(manFolder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name := range names(t, manFolder) {
			os.Remove(filepath.Join(manFolder, name))
		}
	}
	for name := range pages {
		page, err := os.ReadFile(filepath.Join(generated, name))
		if err != nil {
			t.Fatal(err)
		}
		committed := filepath.Join(manFolder, name)
		if *update {
			if err := os.WriteFile(committed, page, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if old, err := os.ReadFile(committed); err != nil || !bytes.Equal(old, page) {
			t.Errorf("docs/man/%s is not what the commands generate; run make docs", name)
		}
	}
	for name := range names(t, manFolder) {
		if !pages[name] {
			t.Errorf("docs/man/%s belongs to no command; run make docs", name)
		}
	}
}

// writeMan writes the manual page of a command.
func writeMan(c *cobra.Command, header *doc.GenManHeader, path string) error {
	var page bytes.Buffer
	if err := doc.GenMan(c, header, &page); err != nil {
		return err
	}
	return os.WriteFile(path, page.Bytes(), 0o644)
}

// names lists the files of a folder.
func names(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		found[e.Name()] = true
	}
	return found
}

// Every command must say what it does and show how it is used.
func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range newRoot(&app{out: io.Discard, err: io.Discard}).Commands() {
		if c.Short == "" {
			t.Errorf("%s has no short help", c.Name())
		}
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.Name())
		}
		if c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}
