package records

import (
	"bufio"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// charmaps are the encodings of text with a byte a letter, by the names of
// spec.Encodings. What web pages and most programs call latin1 is windows-1252.
var charmaps = map[string]encoding.Encoding{
	"latin1":       charmap.Windows1252,
	"windows-1250": charmap.Windows1250,
	"windows-1251": charmap.Windows1251,
	"windows-1252": charmap.Windows1252,
	"windows-1253": charmap.Windows1253,
	"windows-1254": charmap.Windows1254,
	"windows-1257": charmap.Windows1257,
}

// The marks at the start of a text that say how it is encoded.
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// Text gives the text of a CSV file from its start: decompressed, and in UTF-8 of
// the encoding that is named, as a fit reads it.
func Text(path string, file io.Reader, encoding string) (io.Reader, error) {
	text, err := plain(path, file)
	if err != nil {
		return nil, err
	}
	return decoded(text, encoding), nil
}

// decoded gives a text in UTF-8: of what its byte order mark says, or else of the
// encoding name, as it is where that has no table. What cannot be decoded becomes
// U+FFFD and is no error, which would tell of a record.
func decoded(text *bufio.Reader, name string) io.Reader {
	from := charmaps[name]
	switch start, _ := text.Peek(len(markUTF8)); {
	case string(start) == markUTF8:
		return text
	case len(start) >= 2 && (string(start[:2]) == markUTF16LE || string(start[:2]) == markUTF16BE):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	if from == nil {
		return text
	}
	return from.NewDecoder().Reader(text)
}
