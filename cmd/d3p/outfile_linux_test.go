package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe is written to, not replaced by a file; a link to a folder is refused.
func TestWriteOutKeepsPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte)
	go func() {
		content, _ := os.ReadFile(pipe)
		read <- content
	}()
	want := []byte("row,mean\n1,2\n")
	if err := writeOut(pipe, want); err != nil {
		t.Fatal(err)
	}
	if got := <-read; !bytes.Equal(got, want) {
		t.Errorf("the pipe got %q, want %q", got, want)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info.Mode(), err)
	}
	if writeOut(dir, want) == nil {
		t.Error("a folder was written to")
	}
	file := filepath.Join(dir, "file")
	for _, content := range []string{"longer content", "short"} {
		if err := writeOut(file, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != content {
			t.Errorf("the file is %q, %v", got, err)
		}
	}
}
