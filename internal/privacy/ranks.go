package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"reflect"

	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// Ranks are processes that each hold a part of the records and take every step together.
// The first adds up the parts' clipped sums, adds the noise and sends the release to all. A
// record is in one part, so sum and guarantee are those of one process. The messages
// between ranks are not protected.
type Ranks interface {
	// Rank is the number of this process, from 0; Size is the number of processes.
	Rank() int
	Size() int
	// Add replaces x on rank 0 by the sum over all ranks; on the others it is lost.
	Add(x []float64) error
	// Share replaces x by the x of rank 0.
	Share(x []float64) error
}

// RankError: a process failed, so all stop.
type RankError struct {
	Own error // the failure of this process; nil if another failed
}

func (e *RankError) Error() string {
	if e.Own == nil {
		return "privacy: another process of the job failed"
	}
	return e.Own.Error()
}

// Unwrap is the cause.
func (e *RankError) Unwrap() error { return e.Own }

// alone reports that one process has all records.
func alone(r Ranks) bool { return r == nil || r.Size() == 1 }

// ready is the error of this process, or a RankError if another has one, so that all
// continue or none.
func ready(r Ranks, err error) error {
	if alone(r) {
		return err
	}
	failed := []float64{0}
	if err != nil {
		failed[0] = 1
	}
	if lost := errors.Join(r.Add(failed), r.Share(failed)); lost != nil {
		return errors.Join(err, lost)
	}
	if failed[0] > 0 {
		return &RankError{Own: err}
	}
	return nil
}

// releaseTogether adds x over all ranks, lets rank 0 add the noise, and shares the release.
func releaseTogether(r Ranks, x []float64, addNoise func()) error {
	if alone(r) {
		addNoise()
		return nil
	}
	if err := r.Add(x); err != nil {
		return err
	}
	if r.Rank() == 0 {
		addNoise()
	}
	return r.Share(x)
}

// batches are the batches of this process's records. A scheme that treats every record
// independently draws them from these records alone. Any other scheme draws the batches of
// all records, numbered in order of the ranks, with the stream of rank 0. Any numbering
// that does not depend on the stream gives the same law.
func (c *Curator) batches(m Mechanism, own *noise.Stream, first int) (sampler.Sampler, *noise.Stream, error) {
	count := c.table.count()
	if alone(c.ranks) || sampler.Apart(m.Sampler.Scheme) {
		draws, err := samplerFor(m, count, first, own)
		return draws, own, err
	}
	rank, size := c.ranks.Rank(), c.ranks.Size()
	sent := make([]float64, size+keyWords) // the number of records of each, then the key
	defer clear(sent)
	sent[rank] = float64(count)
	if key := own.Key(); rank == 0 {
		for k := range keyWords {
			sent[size+k] = float64(binary.BigEndian.Uint32(key[4*k:]))
		}
	}
	if err := errors.Join(c.ranks.Add(sent), c.ranks.Share(sent)); err != nil {
		return nil, nil, err
	}
	var key [4 * keyWords]byte
	defer clear(key[:])
	for k := range keyWords {
		binary.BigEndian.PutUint32(key[4*k:], uint32(sent[size+k]))
	}
	low, all := 0, 0
	for r, n := range sent[:size] {
		if all += int(n); r < rank {
			low = all
		}
	}
	stream := noise.Keyed(key)
	draws, err := samplerFor(m, all, first, stream)
	if err != nil {
		return nil, nil, err
	}
	return sampler.OfShare(draws, low, low+count), stream, nil
}

// keyWords is the number of 32-bit words of a stream's key.
const keyWords = 8

// digest is the digest of a text, as numbers that ranks can send each other.
type digest [2]float64

func digestOf(text hash.Hash) (d digest) {
	sum := text.Sum(nil)
	for i := range d {
		d[i] = float64(binary.BigEndian.Uint64(sum[8*i:]) >> 11) // whole numbers below 2^53
	}
	return d
}

// with is the digest of d and the digest of how the files were cut into blocks.
func (d digest) with(dealt uint64) digest {
	text := sha256.New()
	fmt.Fprint(text, d, dealt)
	return digestOf(text)
}

// samples are the most places of a table's files whose bytes are compared, sampleBytes at each.
const samples, sampleBytes = 1 << 10, 1 << 12

// filesDigest is the digest of the names and sizes of a table's files and of samples of their bytes; for a missing file it
// contains the name. The records of a copy in another order would be dealt out in other shares.
func filesDigest(files []string) digest {
	list := sha256.New()
	for _, file := range files {
		size := int64(-1)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			size = info.Size()
			sample(list, file, size, max(2, samples/len(files)))
		}
		fmt.Fprintf(list, "%q %d\n", file, size)
	}
	return digestOf(list)
}

// timesDigest is the digest of the names, sizes and times of a table's files.
func timesDigest(files []string) digest {
	list := sha256.New()
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			fmt.Fprintf(list, "%q %d %d\n", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return digestOf(list)
}

// unchanged reads files and returns their digest, none for one process. It is an error if they change meanwhile, as
// while another program writes them: half of a table would be fitted, and the shares of several processes depend on
// the size of a file.
func unchanged(files []string, processes int, read func() error) (of digest, err error) {
	times := timesDigest(files)
	if processes > 1 {
		of = filesDigest(files)
	}
	if err := read(); err != nil {
		return of, err
	}
	if timesDigest(files) != times || processes > 1 && filesDigest(files) != of {
		return of, errFilesChange
	}
	return of, nil
}

// sample writes samples of a file's bytes, from its start to its end; less if they cannot be read.
func sample(to io.Writer, file string, size int64, places int) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	bytes := make([]byte, sampleBytes)
	for at := int64(0); at < size; at += max(sampleBytes, size/int64(places)) {
		n, _ := f.ReadAt(bytes, at)
		to.Write(bytes[:n])
	}
	n, _ := f.ReadAt(bytes, max(0, size-sampleBytes))
	to.Write(bytes[:n])
}

// queryDigest is the digest of what is asked of a curator: of all numbers and names in it but those behind unexported
// pointers. Of numbers that are not whole it has six digits, because machines differ in the last ones.
func queryDigest(query ...any) digest {
	text := sha256.New()
	var write func(v reflect.Value)
	write = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Float64, reflect.Float32:
			fmt.Fprintf(text, "%.6g ", v.Float())
		case reflect.Pointer, reflect.Interface:
			if fmt.Fprint(text, v.IsNil(), v.Type()); !v.IsNil() {
				write(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() || f.Anonymous || v.Field(i).Kind() != reflect.Pointer {
					write(v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			fmt.Fprint(text, v.Len(), ":")
			for i := range v.Len() {
				write(v.Index(i))
			}
		case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		default:
			fmt.Fprintf(text, "%#v ", v)
		}
	}
	write(reflect.ValueOf(query))
	return digestOf(text)
}

// agreeOn is an error on all ranks unless all ask for the same release.
func (c *Curator) agreeOn(query ...any) error {
	if alone(c.ranks) {
		return nil
	}
	return agree(c.ranks, queryDigest(c.relation, query), errQueriesDiffer)
}

var (
	errFilesChange   = errors.New("privacy: a data file changed while it was read (start when the files no longer change)")
	errFilesDiffer   = errors.New("privacy: the processes of the job read other data files, by names, sizes or bytes, or cut them at other places (copy those of rank 0 to all machines, and start when they no longer change)")
	errQueriesDiffer = errors.New("privacy: the processes of the job ask for different releases (start all with the same program, model file and tables)")
)

// agree is differ on all ranks unless all have the same digest: of files, whose places deal out records, so that one that a rank
// has at another place could be in two shares; or of a query.
func agree(r Ranks, own digest, differ error) error {
	if alone(r) {
		return nil
	}
	first := own
	if err := r.Share(first[:]); err != nil {
		return err
	}
	if first == own {
		differ = nil
	}
	return ready(r, differ)
}
