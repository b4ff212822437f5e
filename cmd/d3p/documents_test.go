package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// inDocuments finds the code of a document: spans, and lines of indented
// blocks.
var inDocuments = regexp.MustCompile("`([^`\n]+)`|(?m:^    (.+)$)")

// Every command and flag that a document names in code exists: d3p COMMAND with its
// flags, and, in a span by itself, a flag of some command.
func TestDocumentsNameCommandsAndFlagsThatExist(t *testing.T) {
	root := newRoot(&app{out: io.Discard, err: io.Discard})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	known := flagsOfAll(root)
	documents, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, flags := 0, 0
	for _, path := range append(documents, "../../docs/privacy.md", "../../README.md", "../../datasets/README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inDocuments.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[1] + m[2])
			switch i := slices.IndexFunc(words, func(w string) bool { return w == "d3p" || strings.HasSuffix(w, "/d3p") }); {
			case i >= 0 && i+1 < len(words) && (i == 0 || m[2] != ""):
				commands++
				checkWordsOf(t, path, root, words[i+1:])
			case strings.HasPrefix(m[1], "--"):
				for _, name := range flagNames(words) {
					flags++
					if !known[name] && !othersFlags[name] {
						t.Errorf("%s: no command has --%s", filepath.Base(path), name)
					}
				}
			}
		}
	}
	if commands < 50 || flags < 50 {
		t.Errorf("found %d commands and %d flags", commands, flags)
	}
}

// othersFlags are flags of other programs: twinify's, compared with ours, and --mpi of srun.
var othersFlags = map[string]bool{"k": true, "num_synthetic": true, "m": true, "separate_output": true, "drop_na": true, "clipping_threshold": true, "mpi": true}

// checkWordsOf checks a command line of a document behind the word d3p.
func checkWordsOf(t *testing.T, path string, root *cobra.Command, words []string) {
	t.Helper()
	if strings.HasPrefix(words[0], "-") || words[0] == strings.ToUpper(words[0]) {
		return // d3p --help, d3p COMMAND
	}
	c, _, err := root.Find(words[:1])
	if err != nil || c == root {
		salt := words[0] == "noise" // `d3p noise v1`, which keys are derived with
		if !salt && regexp.MustCompile(`^[a-z-]+$`).MatchString(words[0]) {
			t.Errorf("%s: d3p %s: no such command", filepath.Base(path), words[0])
		}
		return
	}
	if len(words) > 1 {
		if sub, _, err := c.Find(words[1:2]); err == nil && sub != nil {
			c = sub
		}
	}
	for i, word := range words {
		if strings.ContainsAny(word, "|>;&#") { // the next command of a shell
			words = words[:i]
			break
		}
	}
	for _, name := range flagNames(words) {
		if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil && name != "help" {
			t.Errorf("%s: d3p %s has no flag --%s", filepath.Base(path), c.Name(), name)
		}
	}
}

// flagNames are the long flags among words.
func flagNames(words []string) (names []string) {
	for _, m := range regexp.MustCompile(`(?:^| )--([a-z][a-z0-9_-]*)`).FindAllStringSubmatch(strings.Join(words, " "), -1) {
		names = append(names, m[1])
	}
	return names
}

// flagsOfAll are the names of the flags of a command and of all below it.
func flagsOfAll(c *cobra.Command) map[string]bool {
	known := map[string]bool{"help": true}
	c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	for _, sub := range c.Commands() {
		for name := range flagsOfAll(sub) {
			known[name] = true
		}
	}
	return known
}

// A script of testdata/script runs every command.
func TestEveryCommandIsRun(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	text := strings.Join(strings.Fields(scripts.String()), " ")
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Runnable() && !c.HasParent() {
			// d3p alone prints its help
		} else if c.Runnable() && !strings.Contains(text, " "+c.CommandPath()+" ") {
			t.Errorf("no script runs %s", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&app{out: io.Discard, err: io.Discard}))
}
