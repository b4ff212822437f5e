package signature

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// mostKey bounds a key and a list of signers, in bytes.
const mostKey = 1 << 20

// ReadKey reads the private key in a file, and asks the terminal for its passphrase if
// it has one; nil for no file.
func ReadKey(path string) (*Key, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(text, nil)
	if errors.Is(err, ErrPassphrase) {
		var passphrase []byte
		if passphrase, err = askPassphrase(path); err == nil {
			key, err = ParseKey(text, passphrase)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ReadSigners reads the list of signers in a file.
func ReadSigners(path string) (list Signers, err error) {
	text, err := readSmall(path)
	if err == nil {
		list, err = ParseSigners(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
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
		return nil, fmt.Errorf("%w, and there is no terminal to ask for it", ErrPassphrase)
	}
	defer terminal.Close()
	fmt.Fprintf(terminal, "Passphrase of %s: ", path)
	defer fmt.Fprintln(terminal)
	return term.ReadPassword(int(terminal.Fd()))
}
