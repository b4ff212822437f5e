package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"

	"d3p/internal/wholefile"
)

// Create writes a new book, mode 0600; path must not exist.
func Create(path string, b *Book) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; a ledger is never overwritten", path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := encode(b)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Read reads and checks a book.
func Read(path string) (*Book, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no ledger %s (d3p ledger init makes one)", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no ledger: %w", path, errors.Unwrap(err))
	}
	b := new(Book)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(b); err != nil {
		return nil, fmt.Errorf("%s is no ledger: %w", path, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: something stands after the ledger: it was altered (restore a copy)", path)
	}
	// As digests are computed from compact JSON, so are the events kept.
	for i := range b.Entries {
		var compact bytes.Buffer
		if err := json.Compact(&compact, b.Entries[i].Event); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		b.Entries[i].Event = compact.Bytes()
	}
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// Update changes a book in place, whole or not at all, while no other program
// does; it waits for one that does. The book is returned as it was written. A
// symbolic link stands for the file it leads to: put in place of the link, the new
// book would be a second one, with a limit of its own.
func Update(path string, change func(*Book) error) (*Book, error) {
	if _, err := Read(path); err != nil { // before a lock is left beside what is no ledger
		return nil, err
	}
	full, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if full, err = filepath.Abs(full); err != nil {
		return nil, err
	}
	if names, err := namesOf(full); err != nil || names > 1 {
		return nil, errors.Join(err, fmt.Errorf("%s has %d names (hard links), of which one would keep the old ledger (remove the others)", path, names))
	}
	unlock, err := lockedfile.MutexAt(full + ".lock").Lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	b, err := Read(path)
	if err != nil {
		return nil, err
	}
	if err := change(b); err != nil {
		return nil, err
	}
	text, err := encode(b)
	if err != nil {
		return nil, err
	}
	return b, wholefile.Write(full, text, 0o600)
}

func encode(b *Book) ([]byte, error) {
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}
