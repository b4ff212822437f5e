package storage

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A room on disk is a file that only this process can find, for this user alone; it keeps
// what is written, whatever is fetched.
func TestRoomOnDisk(t *testing.T) {
	path := t.TempDir()
	folder, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	const width, records = 44, 200_000
	r, err := New(Place{Folder: folder}, width*records)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OnDisk() {
		t.Fatal("the room is in memory")
	}
	if left, err := os.ReadDir(path); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v: %v", left, err)
	}
	info, err := r.file.file.Stat()
	if err != nil || info.Mode() != 0o600 || info.Size() != width*records {
		t.Errorf("the file is %v of %d bytes: %v", info.Mode(), info.Size(), err)
	}
	for i := range r.Bytes {
		r.Bytes[i] = byte(i * 7)
	}
	want := bytes.Clone(r.Bytes)
	for _, batch := range [][]uint32{nil, {0}, {records - 1}, {5, 5, 1, records - 1, 0}, {0, 100_000, 100_001, 150_000}} {
		r.Fetch(batch, width)
	}
	if !bytes.Equal(r.Bytes, want) {
		t.Error("fetching changed the room")
	}
	r.Free()

	small, err := New(Place{Folder: folder, InMemory: 4 << 20}, 2<<20)
	if err != nil || small.OnDisk() {
		t.Errorf("a room that memory has is on disk: %v", err)
	}
	_, err = New(Place{Folder: folder}, 1<<60)
	if err == nil {
		t.Error("a disk has room for everything")
	} else if number := regexp.MustCompile("[0-9]").FindString(strings.ReplaceAll(err.Error(), path, "")); number != "" {
		t.Errorf("the message has a number, which may be the size of the table: %v", err)
	}
}
