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

	"d3p/internal/atomicfile"
	"d3p/internal/jsonfile"
)

// Create writes a new ledger, mode 0600; path must not exist.
func Create(path string, b *Ledger) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists; a ledger is never overwritten", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no folder %s to create %s in (mkdir -p %[1]s makes it)", filepath.Dir(path), filepath.Base(path))
	case err != nil:
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

// Read reads and checks a ledger.
func Read(path string) (*Ledger, error) {
	full, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no ledger %s (d3p ledger init makes one)", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no ledger: %w", path, err)
	}
	folder, err := os.OpenRoot(filepath.Dir(full))
	if err != nil {
		return nil, fmt.Errorf("%s is no ledger: %w", path, err)
	}
	defer folder.Close()
	b, err := readIn(folder, filepath.Base(full))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// mostBytes bounds a ledger.
const mostBytes = 1 << 30

// readIn reads and checks the ledger in a file of folder.
func readIn(folder *os.Root, name string) (*Ledger, error) {
	raw, err := atomicfile.Read(folder, name, mostBytes)
	if err != nil {
		return nil, fmt.Errorf("it is no ledger: %w", errors.Unwrap(err))
	}
	if !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		return nil, errors.New("it is no ledger (name the file that d3p ledger init made)")
	}
	b := new(Ledger)
	if err := jsonfile.Strict(raw, b); err != nil {
		return nil, fmt.Errorf("it is no ledger, or was altered (restore a copy): %w", err)
	}
	// Digests and kept events are compact JSON.
	for i := range b.Entries {
		var compact bytes.Buffer
		if err := json.Compact(&compact, b.Entries[i].Event); err != nil {
			return nil, fmt.Errorf("it is no ledger: %w", err)
		}
		b.Entries[i].Event = compact.Bytes()
	}
	return b, b.Check()
}

// Update changes a ledger in place, whole or not at all. It waits while another program
// changes the ledger, and returns the ledger that it wrote. It follows a symbolic link: a new
// ledger in place of the link would be a second one with its own limit.
func Update(path string, change func(*Ledger) error) (*Ledger, error) {
	if _, err := Read(path); err != nil { // so that it leaves no lock beside another file
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
		return nil, errors.Join(err, fmt.Errorf("%s has %d names (hard links), and one of them would keep the old ledger (remove the others)", path, names))
	}
	if err := atomicfile.CheckParents(full); err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(filepath.Dir(full))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	name := filepath.Base(full)
	if err := ownFile(folder, name); err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	lock := name + ".lock"
	unlock, err := atomicfile.Lock(folder, lock, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	locked, err := folder.Lstat(lock)
	if err != nil {
		return nil, err
	}
	atomicfile.CleanUp(folder, name)
	b, err := readIn(folder, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := change(b); err != nil {
		return nil, err
	}
	text, err := encode(b)
	if err != nil {
		return nil, err
	}
	return b, atomicfile.WriteIn(folder, name, 0o600, func(w io.Writer) error {
		if now, err := folder.Lstat(lock); err != nil || !os.SameFile(locked, now) {
			return fmt.Errorf("%s.lock was removed while this program had the lock, so another one may have changed the ledger (try again, and leave that file alone)", path)
		}
		_, err := w.Write(text)
		return err
	})
}

// ownFile refuses a ledger that another user may change.
func ownFile(folder *os.Root, name string) error {
	info, err := folder.Lstat(name)
	if err != nil {
		return err
	}
	return atomicfile.CheckOwn(info, 0o022)
}

func encode(b *Ledger) ([]byte, error) {
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}
