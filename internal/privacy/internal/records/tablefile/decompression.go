package tablefile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
)

// Bytes of a piece of text, and of all decompressed text that waits to be read.
const textPiece, textAhead = 1 << 20, 256 << 20

// Decompression decompresses CSV files by gzip, each on a thread, while earlier files are
// encoded. It opens other files unchanged.
type Decompression struct {
	texts map[string]chan textPieceOrError // of the files begun, by path
	left  []string                         // not begun
	most  int                              // pieces of a file that wait
	stop  chan struct{}
}

type textPieceOrError struct {
	text []byte
	err  error
}

// NewDecompression starts as many of the files as there are threads, if there are several.
func NewDecompression(paths []string, format string) *Decompression {
	d := &Decompression{texts: make(map[string]chan textPieceOrError), stop: make(chan struct{})}
	threads := runtime.GOMAXPROCS(0)
	if threads == 1 || len(paths) == 1 {
		return d
	}
	for _, path := range paths {
		if is := FormatOf(path, format); is.Kind == CSV && is.Gzipped {
			d.left = append(d.left, path)
		}
	}
	d.most = textAhead / textPiece / threads
	for range threads {
		d.begin()
	}
	return d
}

// begin begins the next file.
func (d *Decompression) begin() {
	if len(d.left) == 0 {
		return
	}
	path := d.left[0]
	d.left = d.left[1:]
	if d.texts[path] != nil { // the same file twice
		return
	}
	texts := make(chan textPieceOrError, d.most)
	d.texts[path] = texts
	go func() {
		err := decompress(path, func(text []byte) bool {
			select {
			case texts <- textPieceOrError{text: text}:
				return true
			case <-d.stop:
				return false
			}
		})
		select {
		case texts <- textPieceOrError{err: err}:
		case <-d.stop:
		}
	}()
}

// decompress gives the text of a file to take, piece by piece, until that returns false.
// It returns io.EOF at the end of the file.
func decompress(path string, take func([]byte) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := Plain(path, f, true)
	if err != nil {
		return err
	}
	for {
		piece := make([]byte, textPiece)
		n, err := io.ReadFull(text, piece)
		if n > 0 && !take(piece[:n]) {
			return nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		if err != nil {
			return err
		}
	}
}

// Open is the text of a CSV file f, from its start.
func (d *Decompression) Open(path string, f io.Reader, gzipped bool) (*bufio.Reader, error) {
	texts := d.texts[path]
	if texts == nil {
		return Plain(path, f, gzipped)
	}
	delete(d.texts, path)
	r := &decompressedAhead{texts: texts, end: d.begin}
	if r.next(); r.err != nil && !errors.Is(r.err, io.EOF) {
		return nil, r.err
	}
	return bufio.NewReaderSize(r, 1<<16), nil
}

// Close ends it.
func (d *Decompression) Close() { close(d.stop) }

// decompressedAhead reads the text of a file that is decompressed elsewhere, and calls end
// when all of it has arrived.
type decompressedAhead struct {
	texts chan textPieceOrError
	text  bytes.Reader
	err   error
	end   func()
}

// Read implements io.Reader.
func (r *decompressedAhead) Read(p []byte) (int, error) {
	for r.text.Len() == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.next()
	}
	return r.text.Read(p)
}

// next waits for the next piece.
func (r *decompressedAhead) next() {
	piece := <-r.texts
	r.text.Reset(piece.text)
	if r.err = piece.err; r.err != nil {
		r.end()
	}
}
