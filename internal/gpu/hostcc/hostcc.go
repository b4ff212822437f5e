// Package hostcc compiles C++ for this machine, for tests. It compiles the same text with
// the same compiler only once.
package hostcc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// kept is how long a file that no test asks for stays.
const kept = 7 * 24 * time.Hour

// Compiler finds a C++ compiler. The error is exec.ErrNotFound without one.
func Compiler() (path string, err error) {
	if path, err = exec.LookPath("g++"); err != nil {
		path, err = exec.LookPath("clang++")
	}
	return path, err
}

// Build compiles with the arguments and returns the file that was made. Inputs are all
// files that the compiler reads besides its own: their contents, the arguments, the
// compiler and the processor name the file.
func Build(compiler string, args, inputs []string) (file string, err error) {
	version, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", compiler, err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%q\n%s\n", compiler, version, args, processor())
	for _, name := range inputs {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(text))
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, hex.EncodeToString(sum.Sum(nil)))
	now := time.Now()
	if os.Chtimes(file, now, now) == nil {
		return file, nil
	}
	removeOld(dir, now.Add(-kept))
	made, err := os.MkdirTemp(dir, "making")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	out := filepath.Join(made, "out")
	if text, err := exec.Command(compiler, append(args, "-o", out)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return file, os.Rename(out, file)
}

// Source writes a generated text to a file, for Build.
func Source(text string) (file string, err error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, fmt.Sprintf("%x.cpp", sha256.Sum256([]byte(text))))
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, []byte(text)) {
		return file, nil
	}
	writing, err := os.CreateTemp(dir, "writing")
	if err != nil {
		return "", err
	}
	_, err = writing.WriteString(text)
	if closed := writing.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(writing.Name(), file)
	}
	return file, err
}

// folder is in Go's build cache.
func folder() (string, error) {
	cache := os.Getenv("GOCACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(user, "go-build")
	}
	dir := filepath.Join(cache, "d3p-hostcc")
	return dir, os.MkdirAll(dir, 0o700)
}

// removeOld removes files without a use since a time.
func removeOld(dir string, since time.Time) {
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if info, err := f.Info(); err == nil && info.ModTime().Before(since) {
			os.RemoveAll(filepath.Join(dir, f.Name()))
		}
	}
}

// processor names the processor, for which -march=native compiles.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for _, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("flags")) || bytes.HasPrefix(line, []byte("Features")) {
			return string(line)
		}
	}
	return runtime.GOARCH
}
