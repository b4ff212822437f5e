package main

import (
	"bytes"
	"errors"
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

// A symbolic link stays one, and what it leads to is written: /dev/stdout is one.
func TestWriteOutFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	if err := writeOut(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "new" {
		t.Errorf("behind the link is %q (%v)", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v (%v)", info.Mode(), err)
	}
}

// The private counts go to no device, pipe or link, which others may read and a
// whole file would replace, and not in the place of what is read.
func TestPrivateOut(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("data.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("data.csv", at("link")), os.Link(at("data.csv"), at("same"))); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"pipe", "link", "data.csv", "same", "."} {
		if err := checkPrivateOut(at(out), at("model.yaml"), at("data.csv")); statusOf(err) != statusUsage || err == nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	if err := os.WriteFile(at("old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"new", "old"} {
		if err := checkPrivateOut(at(out), at("model.yaml"), at("data.csv")); err != nil {
			t.Error(err)
		}
	}
}
