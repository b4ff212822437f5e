package records

import (
	"bufio"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records/tablefile"
)

// encodeBlocks reads a table of one file from blocks of its text.
func encodeBlocks(path string, blocks *tablefile.Blocks, count func() (int, error), e encoding.Encoding, opt Options) (*Rows, Check, error) {
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, Check{}, err
	}
	enc.begin(path)
	if err := enc.readBlocks(path, blocks, count, e); err != nil {
		return nil, Check{}, err
	}
	return enc.rows, enc.check(path), nil
}

// readCSV reads a table of one file from its text.
func readCSV(path string, text *bufio.Reader, count func() (int, error), e encoding.Encoding, opt Options) (*Rows, Check, error) {
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, Check{}, err
	}
	enc.begin(path)
	if err := enc.readCSV(path, text, count, tablefile.BlockSize, e); err != nil {
		return nil, Check{}, err
	}
	return enc.rows, enc.check(path), nil
}

// readOne reads a table of one file.
func readOne(path string, e encoding.Encoding, opt Options) (*Rows, Check, error) {
	return Read(path, []string{path}, e, opt)
}
