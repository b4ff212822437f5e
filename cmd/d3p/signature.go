package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"d3p/internal/release"
	"d3p/internal/signature"
	"d3p/internal/verify"
)

// mostKey bounds a key and a list of signers, in bytes.
const mostKey = 1 << 20

// signingKey reads the private key in a file, and asks the terminal for its passphrase
// if it has one; nil for no file.
func signingKey(path string) (*signature.Key, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readSmall(path)
	if err != nil {
		return nil, usagef("--sign: %w", err)
	}
	key, err := signature.ParseKey(text, nil)
	if errors.Is(err, signature.ErrPassphrase) {
		var passphrase []byte
		if passphrase, err = askPassphrase(path); err == nil {
			key, err = signature.ParseKey(text, passphrase)
		}
	}
	if err != nil {
		return nil, usagef("--sign: %s: %w", path, err)
	}
	return key, nil
}

// readSmall reads a regular file that the user named.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostKey {
		return nil, fmt.Errorf("%s is no small file", path)
	}
	return os.ReadFile(path)
}

// askPassphrase asks on the terminal, without showing the answer.
func askPassphrase(path string) ([]byte, error) {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w, and there is no terminal to ask for it", signature.ErrPassphrase)
	}
	defer terminal.Close()
	fmt.Fprintf(terminal, "Passphrase of %s: ", path)
	defer fmt.Fprintln(terminal)
	return term.ReadPassword(int(terminal.Fd()))
}

// signingPath is the absolute path of --sign; "" for none.
func signingPath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	absolute, err := filepath.Abs(path)
	return absolute, failWith(statusUsage, err)
}

// verifySignature checks the signature of a release, and with a list of signers whose
// it is. Without a list a release may be unsigned; ok is false when nothing is to say.
func verifySignature(files *release.Folder, signers string) (c verify.Check, ok bool, err error) {
	c.Name = release.SignatureName
	var list signature.Signers
	if signers != "" {
		text, err := readSmall(signers)
		if err == nil {
			list, err = signature.ParseSigners(text)
		}
		if err != nil {
			return c, false, usagef("--signers: %s: %w", signers, err)
		}
	}
	made, err := files.Signature()
	if errors.Is(err, fs.ErrNotExist) {
		c.Detail = "missing: the release is not signed"
		return c, signers != "", nil
	}
	if err != nil {
		c.Detail = "not readable: " + err.Error()
		return c, true, nil
	}
	_, manifest := files.Manifest()
	key, err := signature.Check(manifest, made)
	if err != nil {
		c.Detail = "does not hold: " + err.Error()
		return c, true, nil
	}
	c.Detail = "the manifest is signed by the key " + signature.Fingerprint(key)
	if signers == "" {
		c.OK, c.Detail = true, c.Detail+"; --signers FILE checks whose that is"
		return c, true, nil
	}
	who, err := list.Who(key, time.Now())
	if err != nil {
		c.Detail = err.Error()
		return c, true, nil
	}
	c.OK, c.Detail = true, c.Detail+", of "+who
	return c, true, nil
}
