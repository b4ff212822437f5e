package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"d3p/internal/stattest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"d3p": func() { os.Exit(mainStatus()) }})
}

// TestScripts runs every script of testdata/script against the d3p command.
func TestScripts(t *testing.T) {
	t.Parallel() // beside the two long tests of tables
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"append":    appendText,
			"status":    wantStatus,
			"table":     makeTable,
			"canary":    plantCanary,
			"absent":    absent,
			"smalldisk": smallDisk,
			"lie":       lie,
			"waitfor":   waitFor,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "smalldisk":
				return canMount(), nil
			case "race":
				return stattest.Race, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func TestReportPrefixesMessages(t *testing.T) {
	var out strings.Builder
	a := &app{err: &out}
	a.report(errors.New("m.yaml:3:4: unknown key\nno file x: y"))
	if got, want := out.String(), "m.yaml:3:4: unknown key\nd3p: no file x: y\n"; got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}
