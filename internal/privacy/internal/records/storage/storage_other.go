//go:build !linux

package storage

import (
	"errors"
	"os"
)

// scratch files are for Linux.
type scratch struct{}

func newScratch(*os.Root, int) (*scratch, error) {
	return nil, errors.New("tables on disk need Linux (type --table memory)")
}

func (s *scratch) close() {}

// mapped returns nil: a slice of the heap does.
func mapped(*scratch, int) ([]byte, error) { return nil, nil }

func unmap([]byte) {}

const soon, randomly = 0, 0

func advise([]byte, int) {}

func resident([]byte) bool { return true }
