package atomicfile

import (
	"io"
	"os"
	"sync"
	"testing"
)

// A file that another process replaces whole, as a ledger is by every fit, can be read
// all the while.
func TestReadWhileReplaced(t *testing.T) {
	folder, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	write := func() error {
		return WriteIn(folder, "book", 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, "whole")
			return err
		})
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := write(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20000 {
		content, err := Read(folder, "book", 100)
		if err != nil || string(content) != "whole" {
			t.Errorf("%q, %v", content, err)
			break
		}
	}
	close(stop)
	writers.Wait()
}
