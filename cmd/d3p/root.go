package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/manual"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/spell"
	"d3p/internal/status"
)

const (
	groupModel   = "model"
	groupFit     = "fit"
	groupPrivacy = "privacy"
	groupOther   = "other"
)

// command is one row of the table of subcommands: a constructor and the group that lists it.
type command struct {
	group string
	build func(*app) *cobra.Command
}

// commands lists every subcommand. A new one is a file and a line here.
func commands() []command {
	return []command{
		{groupModel, newInit},
		{groupModel, newCheck},
		{groupModel, newRender},
		{groupModel, newPlan},
		{groupModel, newSimulate},
		{groupFit, newFit},
		{groupFit, newFitNonprivate},
		{groupFit, newResume},
		{groupFit, newFinish},
		{groupFit, newSummary},
		{groupFit, newDraws},
		{groupFit, newCompare},
		{groupFit, newPlot},
		{groupFit, newPredict},
		{groupFit, newExport},
		{groupFit, newEffects},
		{groupFit, newScore},
		{groupFit, newSelect},
		{groupFit, newTwin},
		{groupFit, newCombine},
		{groupPrivacy, newSigma},
		{groupPrivacy, newAccount},
		{groupPrivacy, newReport},
		{groupPrivacy, newVerify},
		{groupPrivacy, newLedger},
		{groupOther, newDevices},
		{groupOther, newVersion},
	}
}

// newRoot builds the command tree. It is a function so that each test and the manual's
// generator get their own tree.
func newRoot(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "d3p",
		Short: "Bayesian models for sensitive tables, under differential privacy",
		Long: `d3p fits Bayesian models to tables of sensitive records and releases the
posterior with a differential privacy guarantee. A model is a short YAML file;
nothing about a record leaves except through a mechanism whose price is counted.`,
		Example: `  d3p init cohort.csv > cohort.yaml       # a model file from the header line, to be filled in
  d3p check cohort.yaml                   # find every mistake before any data is read
  d3p plan cohort.yaml --epsilon 1        # the plan of a fit and its price
  d3p fit --epsilon 1 cohort.csv          # the fit
  d3p predict d3p-run-cohort-1 new.csv --out predictions.csv`,
		Args:              unknownCommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return a.printVersion()
			}
			return c.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version, commit and platform")
	root.SetUsageTemplate(flags.UsageTemplate(root.UsageTemplate(), terminal.Width(a.out)))
	root.SetHelpTemplate(root.HelpTemplate() + "{{if not .HasParent}}\n" + status.Table + "\n{{end}}")
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print results as JSON")
	root.PersistentFlags().BoolVar(&a.quiet, "quiet", false, "print nothing but results, warnings and errors")
	root.AddGroup(
		&cobra.Group{ID: groupModel, Title: "Before the data:"},
		&cobra.Group{ID: groupFit, Title: "Fitting and using a fit:"},
		&cobra.Group{ID: groupPrivacy, Title: "Privacy:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	flags.AcceptOldNames(root, a.notef)
	for _, c := range commands() {
		sub := c.build(a)
		sub.GroupID = c.group
		for _, named := range append(sub.Commands(), sub) {
			flags.ReadWholeNumbers(named)
			if !named.HasSubCommands() {
				named.ValidArgsFunction = completeArgs
			}
		}
		root.AddCommand(sub)
	}
	for _, t := range manual.Topics() {
		root.AddCommand(newTopic(t))
	}
	refuseUnknownHelp(root)
	return root
}

// refuseUnknownHelp makes d3p help of a mistyped command an error: cobra shows the help of the program.
func refuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // it is there
	help.Example = "  d3p help fit\n  d3p help keys"
	help.Args = func(_ *cobra.Command, args []string) error {
		if found, _, _ := root.Find(args); found == root { // the error is that found is not a child
			return unknownCommand(root, args)
		}
		return nil
	}
}

// newTopic is a page of `d3p help`: cobra treats a command that does nothing as a help
// topic. Its text is made when someone reads it.
func newTopic(t manual.Topic) *cobra.Command {
	c := &cobra.Command{Use: t.Name, Short: t.Short, DisableAutoGenTag: true}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Long = t.Text()
		c.Parent().HelpFunc()(c, args)
	})
	return c
}

// perRecord are the model comparisons that users of brms and ArviZ look for.
var perRecord = []string{"loo", "waic", "psis"}

// otherCommands are names that other tools have for a command.
var otherCommands = map[string]string{
	"synthesize": "twin", "synthesise": "twin", "synthesis": "twin", "synthetic": "twin", "generate": "twin", "twinify": "twin",
	"train": "fit", "learn": "fit", "run": "fit", "sample": "draws", "posterior": "draws", "show": "summary", "print": "summary",
	"validate": "check", "lint": "check", "budget": "ledger", "epsilon": "account", "calibrate": "sigma", "contrasts": "effects",
	"new": "init", "continue": "resume", "evaluate": "score",
}

// unknownCommand refuses arguments of the bare program, which are mistyped
// subcommands.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if slices.Contains(perRecord, args[0]) {
		return status.Usagef("%s is a sum over the log densities of single records, which have no bound, so no budget buys it (d3p score RUN TEST scores a release on other records, d3p select chooses among models)", args[0])
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if meant, ok := otherCommands[args[0]]; ok {
		return status.Usagef("unknown command %s (did you mean %s?); d3p --help lists them", args[0], meant)
	}
	return status.Usagef("unknown command %s%s; d3p --help lists them", args[0], spell.Hint(args[0], names))
}

// flagError rewrites pflag's message about an unknown or malformed flag. If a mistyped
// command stands before its flags, the message names the command.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if c.HasSubCommands() {
			if err := c.ValidateArgs(c.Flags().Args()); err != nil {
				return err
			}
		}
		var names []string
		collect := func(f *pflag.Flag) { names = append(names, "--"+f.Name) }
		c.Flags().VisitAll(collect)
		c.InheritedFlags().VisitAll(collect)
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return status.Usagef("unknown flag %s%s; %s --help lists the flags", name, settings.Hint(name, names), c.CommandPath())
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return status.Usagef("--%s: %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), valueKind(invalid.GetFlag().Value.Type()))
	}
	return status.With(status.Usage, err)
}

// valueKind describes the values of a flag's type.
func valueKind(pflagType string) string {
	switch {
	case strings.HasPrefix(pflagType, "float"):
		return "a number"
	case strings.HasPrefix(pflagType, "int"):
		return "a whole number"
	case strings.HasPrefix(pflagType, "uint"):
		return "a whole number that is not negative"
	case pflagType == "bool":
		return "true or false"
	}
	return "a " + pflagType
}

// exactly checks the number of arguments and names them in the message.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return status.Usagef("%s: missing argument %s; usage: %s", c.CommandPath(), names[len(args)], c.UseLine())
		case len(args) > len(names):
			return status.Usagef("%s: unexpected argument %s; %s", c.CommandPath(), args[len(names)], instead(c, args))
		}
		return nil
	}
}

// atLeast checks that there are n arguments or more, which `what` describes in the message.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return status.Usagef("%s: needs %s; usage: %s", c.CommandPath(), what, c.UseLine())
		}
		return nil
	}
}

// instead suggests a command when several arguments stand in the place of DATA.
func instead(c *cobra.Command, args []string) string {
	typed := make([]string, len(args))
	for i, arg := range args {
		typed[i] = spell.Word(arg)
	}
	model := slices.IndexFunc(args, func(name string) bool { return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") })
	switch takesModel := c.Flags().Lookup("model") != nil; {
	case takesModel && model >= 0:
		data := slices.Delete(slices.Clone(typed), model, model+1)
		return strings.Join(append([]string{"the model file goes behind --model:", c.CommandPath(), "--model", typed[model]}, data...), " ")
	case c.Flags().Lookup("data") != nil:
		return fmt.Sprintf("the records go behind --data: %s %s --data %s", c.CommandPath(), typed[0], typed[1])
	case c.Flags().Lookup("columns") != nil:
		return fmt.Sprintf("columns go behind --columns: %s %s --columns %s", c.CommandPath(), typed[0], spell.Word(strings.Join(args[1:], ",")))
	case takesModel:
		return "several files of one table are one argument: a folder, a pattern in quotes, or @FILE, which lists them"
	}
	return "usage: " + c.UseLine()
}

// completeArgs proposes the arguments in the command's usage line: for DATA, NEW and MODEL
// files by extension, for RUN the folder of a fit.
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

// runsNear lists the runs in the folder of the typed path, or all folders there if none is
// a run.
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
