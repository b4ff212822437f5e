package encoding

import (
	"bytes"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"d3p/internal/models/data"
)

// A Tokenizer cuts texts into tokens. It is not safe for concurrent use.
type Tokenizer struct {
	listed int            // texts are lists of tokens below it; 0: they are texts
	places map[string]int // of each token of the vocabulary; nil: bytes
	most   int            // bytes of the longest one
	folded []byte         // room for a word in lower case
	piece  []byte         // room for a piece of one
}

// NewTokenizer returns a Tokenizer for the vocabulary of a field, nil for bytes.
func NewTokenizer(vocabulary []string) *Tokenizer {
	t := &Tokenizer{}
	if vocabulary != nil {
		t.places = make(map[string]int, len(vocabulary))
		for i, v := range vocabulary {
			t.places[v] = data.Unknown + 1 + i
			t.most = max(t.most, len(v))
		}
	}
	return t
}

// NewListTokenizer returns a Tokenizer for lists of tokens below levels.
func NewListTokenizer(levels int) *Tokenizer { return &Tokenizer{listed: levels} }

// Clone is a Tokenizer with the same vocabulary.
func (t *Tokenizer) Clone() *Tokenizer {
	return &Tokenizer{listed: t.listed, places: t.places, most: t.most}
}

// Listed is the token of a number in a list: the number if it is a token, else
// data.Unknown.
func (t *Tokenizer) Listed(x float64) int {
	if x >= 0 && x < float64(t.listed) && x == math.Trunc(x) {
		return int(x)
	}
	return data.Unknown
}

// list calls add with the tokens of a list that is written as text: numbers with spaces or
// commas between them, in brackets or not.
func (t *Tokenizer) list(text []byte, add func(token int) bool) {
	for {
		text = bytes.TrimLeft(text, betweenNumbers)
		if len(text) == 0 {
			return
		}
		end := bytes.IndexAny(text, betweenNumbers)
		if end < 0 {
			end = len(text)
		}
		x, err := strconv.ParseFloat(string(text[:end]), 64)
		if err != nil {
			x = math.NaN()
		}
		if !add(t.Listed(x)) {
			return
		}
		text = text[end:]
	}
}

const betweenNumbers = " \t\r\n,;|[](){}\"'"

// Tokens calls add with the tokens of a text, in order, until it returns false. Every
// byte b is the token 1 + b. With a vocabulary, words in lower case and single other
// signs are looked up as they are, then as the longest known beginning with known
// continuations, which the vocabulary writes ##ing (Wu et al. 2016, arXiv:1609.08144);
// else they are data.Unknown.
func (t *Tokenizer) Tokens(text []byte, add func(token int) bool) {
	if t.listed > 0 {
		t.list(text, add)
		return
	}
	if t.places == nil {
		for _, b := range text {
			if !add(1 + int(b)) {
				return
			}
		}
		return
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if unicode.IsSpace(r) {
			text = text[size:]
			continue
		}
		end := size
		if inWord(r) {
			for end < len(text) {
				if r, size = utf8.DecodeRune(text[end:]); !inWord(r) {
					break
				}
				end += size
			}
		}
		if !t.word(text[:end], add) {
			return
		}
		text = text[end:]
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// continued marks a piece that continues a word.
const continued = "##"

// word adds the tokens of one word.
func (t *Tokenizer) word(word []byte, add func(token int) bool) bool {
	t.folded = t.folded[:0]
	for rest := word; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		t.folded = utf8.AppendRune(t.folded, unicode.ToLower(r))
		rest = rest[size:]
	}
	if token, ok := t.places[string(t.folded)]; ok {
		return add(token)
	}
	if !t.pieces(func(int) bool { return true }) {
		return add(data.Unknown)
	}
	more := true
	t.pieces(func(token int) bool { more = add(token); return more })
	return more
}

// pieces calls add for the pieces of the folded word, until it returns false, and
// reports whether the vocabulary has all of them. It looks no farther than the longest
// token: whoever writes a word of a million letters cannot stop the reader.
func (t *Tokenizer) pieces(add func(token int) bool) bool {
	for rest, prefix := t.folded, ""; len(rest) > 0; prefix = continued {
		end := min(len(rest), t.most)
		for ; end > 0; end-- {
			t.piece = append(append(t.piece[:0], prefix...), rest[:end]...)
			if token, ok := t.places[string(t.piece)]; ok {
				if !add(token) {
					return true
				}
				break
			}
		}
		if end == 0 {
			return false
		}
		rest = rest[end:]
	}
	return true
}
