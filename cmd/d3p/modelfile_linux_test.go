package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"d3p/internal/status"
)

// The model file is read once: what is compiled is what is hashed. A pipe gives its
// text to the first reader alone.
func TestModelFileIsReadOnce(t *testing.T) {
	source, err := os.ReadFile("../../configs/logistic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pipe, planned := filepath.Join(dir, "model.yaml"), filepath.Join(dir, "plan.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want status.Code
	}{
		{[]string{"plan", pipe, "--epsilon", "1", "--report", planned}, status.OK},
		{[]string{"fit", filepath.Join(dir, "none.csv"), "--model", pipe, "--epsilon", "1", "--out", filepath.Join(dir, "out")}, status.Data},
	} {
		go os.WriteFile(pipe, source, 0)
		ended := make(chan int, 1)
		var out bytes.Buffer
		go func() { ended <- (&app{out: &out, err: &out}).run(context.Background(), c.args) }()
		select {
		case got := <-ended:
			if got != int(c.want) {
				t.Errorf("%v ended with %d, want %d: %s", c.args, got, c.want, out.String())
			}
		case <-time.After(5 * time.Minute):
			t.Fatalf("%v waits for more of the model file", c.args)
		}
	}
	hash := sha256.Sum256(source)
	if report, err := os.ReadFile(planned); err != nil || !strings.Contains(string(report), hex.EncodeToString(hash[:])) {
		t.Errorf("the report does not have the hash of the model file (%v)", err)
	}
}
