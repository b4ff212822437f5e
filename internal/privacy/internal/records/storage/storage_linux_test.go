package storage

import (
	"bytes"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
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

// Pages that Fetch asks for are in memory soon after; it does not ask for pages that are there.
func TestFetchReads(t *testing.T) {
	r := coldRoom(t, 8<<20)
	page := os.Getpagesize()
	batch := []uint32{0, 300, 301, 900, 2000}
	r.Fetch(batch, page)
	for deadline := time.Now().Add(time.Minute); !slices.Equal(residents(r, batch, page), []bool{true, true, true, true, true}); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("pages in memory after a minute: %v", residents(r, batch, page))
		}
	}
	if has := residents(r, []uint32{600}, page); has[0] {
		t.Skip("the file system of the temporary folder keeps its files in memory")
	}
	if r.has([]uint32{0, 600}, page, page) || !r.has(batch, page, page) {
		t.Error("has does not report the pages in memory")
	}
}

// coldRoom is a room on disk, with no page in memory.
func coldRoom(tb testing.TB, size int) *Room {
	tb.Helper()
	folder, err := os.OpenRoot(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { folder.Close() })
	r, err := New(Place{Folder: folder}, size)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Free)
	for i := range r.Bytes {
		r.Bytes[i] = byte(i)
	}
	cool(tb, r)
	return r
}

// cool writes a room to the disk and has the kernel forget it.
func cool(tb testing.TB, r *Room) {
	tb.Helper()
	if err := r.file.file.Sync(); err != nil {
		tb.Fatal(err)
	}
	const dontNeed = 4 // of madvise and of posix_fadvise
	advise(r.Bytes, randomly)
	advise(r.Bytes, dontNeed)
	if _, _, err := syscall.Syscall6(syscall.SYS_FADVISE64, r.file.file.Fd(), 0, 0, dontNeed, 0, 0); err != 0 {
		tb.Fatal(err)
	}
}

func residents(r *Room, batch []uint32, page int) (list []bool) {
	for _, i := range batch {
		list = append(list, resident(r.Bytes[int(i)*page:int(i+1)*page]))
	}
	return list
}

// BenchmarkFetch reads 20,000 records of 24 bytes from a room of 512 MB: with no page in
// memory, requested beforehand or not, or with all pages there.
func BenchmarkFetch(b *testing.B) {
	const width, size = 24, 512 << 20
	r := coldRoom(b, size)
	rng := rand.New(rand.NewPCG(1, 2))
	sum := byte(0)
	for _, state := range []string{"cold", "fetched", "warm"} {
		b.Run(state, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				batch := make([]uint32, 20_000)
				for i := range batch {
					batch[i] = rng.Uint32N(size / width)
				}
				if state != "warm" {
					cool(b, r)
				} else {
					for i := range r.Bytes {
						sum += r.Bytes[i]
					}
				}
				b.StartTimer()
				if state != "cold" {
					r.Fetch(batch, width)
				}
				for _, i := range batch {
					sum += r.Bytes[int(i)*width]
				}
			}
		})
	}
	_ = sum
}
