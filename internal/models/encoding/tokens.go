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
	words  bool           // texts are lists of words, which are looked up as they are
	places map[string]int // of each token of the vocabulary; nil: bytes
	most   int            // bytes of the longest one
	folded []byte         // room for a word in lower case
	piece  []byte         // room for a piece of one
}

// NewTokenizer returns the Tokenizer of a field.
func NewTokenizer(f *Field) *Tokenizer {
	t := &Tokenizer{listed: f.Listed, words: f.Words}
	if f.Vocabulary != nil {
		t.places = make(map[string]int, len(f.Vocabulary))
		for i, v := range f.Vocabulary {
			t.places[v] = data.Unknown + 1 + i
			t.most = max(t.most, len(v))
		}
	}
	return t
}

// Clone is a Tokenizer with the same vocabulary.
func (t *Tokenizer) Clone() *Tokenizer {
	return &Tokenizer{listed: t.listed, words: t.words, places: t.places, most: t.most}
}

// Listed is the token of a number in a list: the number if it is a token, else
// data.Unknown.
func (t *Tokenizer) Listed(x float64) int {
	if x >= 0 && x < float64(t.listed) && x == math.Trunc(x) {
		return int(x)
	}
	return data.Unknown
}

// list calls add with the tokens of a list of numbers that is written as text: numbers with
// spaces or commas between them, in brackets or not.
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

// wordList calls add with the tokens of a list of words that is written as text: words with
// spaces between them, or quoted in brackets as JSON, Python and numpy write them.
func (t *Tokenizer) wordList(text []byte, add func(token int) bool) {
	text = bytes.TrimSpace(text)
	quoted := len(text) > 1 && text[0] == '[' && text[len(text)-1] == ']' && (len(text) == 2 || text[1] == '"' || text[1] == '\'')
	for more := true; more; {
		var word []byte
		if quoted {
			word, text = t.quotedWord(text)
		} else {
			text = bytes.TrimLeftFunc(text, unicode.IsSpace)
			end := bytes.IndexFunc(text, unicode.IsSpace)
			if end < 0 {
				end = len(text)
			}
			word, text = text[:end], text[end:]
		}
		if len(word) == 0 && len(text) == 0 {
			return
		}
		token, ok := t.places[string(word)]
		if !ok {
			token = data.Unknown
		}
		more = add(token)
	}
}

// quotedWord is the next text in quotes, and what follows it. A backslash stands before a
// quote or a backslash of the word, or writes a letter as \u00e9.
func (t *Tokenizer) quotedWord(text []byte) (word, rest []byte) {
	begin := bytes.IndexAny(text, `"'`)
	if begin < 0 {
		return nil, nil
	}
	quote := text[begin]
	t.piece = t.piece[:0]
	for i := begin + 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return t.piece, text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			if i++; text[i] != 'u' || i+4 >= len(text) {
				break
			}
			if r, err := strconv.ParseUint(string(text[i+1:i+5]), 16, 16); err == nil {
				t.piece = utf8.AppendRune(t.piece, rune(r))
				i += 4
				continue
			}
		}
		t.piece = append(t.piece, text[i])
	}
	return t.piece, nil
}

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
	if t.words {
		t.wordList(text, add)
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
