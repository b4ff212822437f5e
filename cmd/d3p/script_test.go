package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"d3p/internal/jsonfile"
	"d3p/internal/release"
)

// wantStatus is the script command `status N d3p ARGS...`: it runs a command
// and checks its exit status; stdout and stderr can then be looked at as after
// exec.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// makeTable is the script command `table FILE N`: it writes N simulated records
// with columns x (real), g (a or b) and y (0 or 1, log odds x).
func makeTable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: table file records")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	rng := rand.New(rand.NewPCG(1, 2))
	out := bytes.NewBufferString("x,g,y\n")
	for range n {
		x, y := rng.NormFloat64(), 0
		if rng.Float64() < 1/(1+math.Exp(-x)) {
			y = 1
		}
		fmt.Fprintf(out, "%.4f,%c,%d\n", x, "ab"[rng.IntN(2)], y)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// plantCanary is the script command `canary FILE WORD NUMBER`: it appends
// records that hold a marker in each column of a table x,g,y.
func plantCanary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: canary file word number")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	word, number := args[1], args[2]
	_, err = fmt.Fprintf(f, "%s,a,1\n%s,b,0\n1,%s,1\n1,a,%s\n1,b,%s\n", word, number, word, word, number)
	ts.Check(err)
	ts.Check(f.Close())
}

// absent is the script command `absent PATH TEXT...`: no file at or below PATH
// holds any of the texts, be it text or binary.
func absent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: absent path text...")
	}
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		for _, text := range args[1:] {
			if bytes.Contains(content, []byte(text)) {
				ts.Fatalf("%s holds %s", path, text)
			}
		}
		return err
	}))
	if files == 0 {
		ts.Fatalf("no file at %s", args[0])
	}
}

// waitFor is the script command `waitfor FILE`: it waits until a background
// command has made the file, and lets it go on for a moment.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor file")
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			time.Sleep(50 * time.Millisecond)
			return
		}
	}
	ts.Fatalf("%s did not appear within five minutes", args[0])
}

// appendText is the script command `append FILE TEXT`.
func appendText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append file text")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteString(args[1])
	ts.Check(err)
	ts.Check(f.Close())
}

// lie is the script command `lie RELEASE FILE OLD NEW`: it alters a file of a
// release, and its entry in the manifest, too.
func lie(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: lie release file old new")
	}
	path := filepath.Join(ts.MkAbs(args[0]), args[1])
	truth, err := os.ReadFile(path)
	ts.Check(err)
	altered := bytes.ReplaceAll(truth, []byte(args[2]), []byte(args[3]))
	if bytes.Equal(truth, altered) {
		ts.Fatalf("%s does not hold %s", path, args[2])
	}
	ts.Check(os.WriteFile(path, altered, 0o644))
	manifest := filepath.Join(ts.MkAbs(args[0]), release.ManifestName)
	raw, err := os.ReadFile(manifest)
	ts.Check(err)
	var m release.Manifest
	ts.Check(json.Unmarshal(raw, &m))
	for i := range m.Files {
		if m.Files[i].Path == args[1] {
			sum := sha256.Sum256(altered)
			m.Files[i].SHA256, m.Files[i].Bytes = hex.EncodeToString(sum[:]), int64(len(altered))
		}
	}
	var out bytes.Buffer
	ts.Check(jsonfile.Write(&out, m))
	ts.Check(os.WriteFile(manifest, out.Bytes(), 0o644))
}
