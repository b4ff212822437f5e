package tablefile

import (
	"bufio"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// charmaps are the encodings of text with a byte a letter, by the names of
// spec.Encodings. Web pages and most programs call windows-1252 latin1.
var charmaps = map[string]*charmap.Charmap{
	"latin1":       charmap.Windows1252,
	"windows-1250": charmap.Windows1250,
	"windows-1251": charmap.Windows1251,
	"windows-1252": charmap.Windows1252,
	"windows-1253": charmap.Windows1253,
	"windows-1254": charmap.Windows1254,
	"windows-1257": charmap.Windows1257,
}

// The byte order marks of encodings.
const (
	MarkUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// Text gives the text of a CSV file with a header line from its start: decompressed if
// its name ends in .gz, and decoded from the named encoding to UTF-8, as in a fit.
func Text(path string, file io.Reader, encoding string) (io.Reader, error) {
	text, err := Plain(path, file, FormatOf(path, "").Gzipped)
	if err != nil {
		return nil, err
	}
	start, _ := text.Peek(Magic)
	if other := OtherFormat(path, string(start)); other != nil {
		return nil, other
	}
	return Decoded(text, Marked(text, encoding)), nil
}

// Marked is the encoding of the byte order mark before a header line, else the one with
// this name.
func Marked(text *bufio.Reader, name string) string {
	switch start, _ := text.Peek(len(MarkUTF8)); {
	case string(start) == MarkUTF8:
		return "utf-8"
	case len(start) >= 2 && string(start[:2]) == markUTF16LE:
		return "utf-16le"
	case len(start) >= 2 && string(start[:2]) == markUTF16BE:
		return "utf-16be"
	}
	return name
}

// Decoded converts text from the encoding with this name to UTF-8; text in UTF-8 stays
// unchanged. No byte is an error, which would reveal a record: bytes that cannot be decoded
// become bytes that are invalid in UTF-8. Different bytes become different ones, so that
// two ids are equal only if their bytes are.
func Decoded(text io.Reader, name string) io.Reader {
	switch letters := charmaps[name]; {
	case letters != nil:
		return &decoder{src: text, decode: letterByLetter(letters)}
	case name == "utf-16le":
		return &decoder{src: text, decode: func(out, in []byte, end bool) ([]byte, int) { return utf16Text(out, in, end, 0, 1) }}
	case name == "utf-16be":
		return &decoder{src: text, decode: func(out, in []byte, end bool) ([]byte, int) { return utf16Text(out, in, end, 1, 0) }}
	}
	return text
}

// decoder decodes as it reads.
type decoder struct {
	src    io.Reader
	decode func(out, in []byte, end bool) (_ []byte, used int) // appends the text of bytes of in to out
	in     [32 << 10]byte
	n      int // bytes of in
	out    []byte
	at     int // of out, not given out yet
	err    error
}

func (d *decoder) Read(p []byte) (int, error) {
	for d.at == len(d.out) {
		if d.err != nil {
			return 0, d.err
		}
		var m int
		m, d.err = d.src.Read(d.in[d.n:])
		d.n += m
		var used int
		d.out, used = d.decode(d.out[:0], d.in[:d.n], d.err != nil)
		d.n, d.at = copy(d.in[:], d.in[used:d.n]), 0
	}
	n := copy(p, d.out[d.at:])
	d.at += n
	return n, nil
}

// Bytes that are invalid in UTF-8, before bytes without a letter.
const (
	noLetter = 0xfe // then the byte
	halfUnit = 0xff // then the only byte of a unit of UTF-16 that is cut off
)

func letterByLetter(letters *charmap.Charmap) func(out, in []byte, end bool) ([]byte, int) {
	var table [256][]byte
	for b := range table {
		r := letters.DecodeByte(byte(b))
		if r == utf8.RuneError {
			table[b] = []byte{noLetter, byte(b)}
		} else {
			table[b] = utf8.AppendRune(nil, r)
		}
	}
	return func(out, in []byte, _ bool) ([]byte, int) {
		for _, b := range in {
			out = append(out, table[b]...)
		}
		return out, len(in)
	}
}

// utf16Text decodes pairs of bytes. Half a pair of surrogates is written as UTF-8
// would write it if it were a letter.
func utf16Text(out, in []byte, end bool, low, high int) ([]byte, int) {
	at := 0
	unit := func(i int) rune { return rune(in[i+low]) | rune(in[i+high])<<8 }
	for ; at+2 <= len(in); at += 2 {
		r := unit(at)
		if !utf16.IsSurrogate(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		if r < 0xdc00 && at+4 > len(in) && !end {
			return out, at
		}
		if at+4 <= len(in) {
			if pair := utf16.DecodeRune(r, unit(at+2)); pair != utf8.RuneError {
				out, at = utf8.AppendRune(out, pair), at+2
				continue
			}
		}
		out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	if end && at < len(in) {
		out, at = append(out, halfUnit, in[at]), at+1
	}
	return out, at
}
