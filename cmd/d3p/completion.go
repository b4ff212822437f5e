package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/run"
	"github.com/spf13/cobra"
)

// completeArgs proposes the arguments that the command's usage line names: DATA,
// NEW and MODEL are files by their extensions, RUN is the folder of a fit.
func completeArgs(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	named := strings.Fields(c.Use)[1:]
	at := len(args)
	if len(named) > 0 && strings.HasSuffix(named[len(named)-1], "...") {
		at = min(at, len(named)-1)
	}
	if at >= len(named) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	switch strings.Trim(named[at], "[].") {
	case "DATA", "NEW":
		return []string{"csv", "parquet", "npy", "gz"}, cobra.ShellCompDirectiveFilterFileExt
	case "MODEL":
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	case "EVENT":
		return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
	case "RUN":
		return runsNear(typed), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// runsNear lists the folders with what a fit left, in the folder that the typed
// path is in; all folders when there is none.
func runsNear(typed string) (runs []string) {
	folder := typed[:strings.LastIndexByte(typed, filepath.Separator)+1]
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		path := folder + e.Name()
		if !e.IsDir() || !strings.HasPrefix(path, typed) {
			continue
		}
		all = append(all, path+string(filepath.Separator))
		if _, err := os.Stat(filepath.Join(path, run.JobName)); err == nil {
			runs = append(runs, path)
		} else if _, err := os.Stat(filepath.Join(path, "release", "privacy.json")); err == nil {
			runs = append(runs, path)
		}
	}
	if len(runs) == 0 {
		return all
	}
	return runs
}

// completeWords proposes words for a flag.
func completeWords(c *cobra.Command, flag string, words []string) {
	c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(slices.Clone(words), cobra.ShellCompDirectiveNoFileComp))
}
