package encoding_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
)

// TestTokens checks bytes, words, pieces of words and what the vocabulary lacks.
func TestTokens(t *testing.T) {
	vocabulary := data.ReadVocabulary([]byte("\ufeffthe\n cat \r\n\n,\nplay\n##ing\n##s\nété\ni"))
	if len(vocabulary) != 8 {
		t.Fatalf("vocabulary %q", vocabulary)
	}
	for _, c := range []struct {
		text       string
		vocabulary []string
		want       []int
	}{
		{"ab\xff", nil, []int{98, 99, 256}},
		{"", nil, nil},
		{"The cat,the", vocabulary, []int{2, 3, 4, 2}},
		{"playing PLAYS plays,", vocabulary, []int{5, 6, 5, 7, 5, 7, 4}},
		{"ÉTÉ dog ! ing playful", vocabulary, []int{8, 1, 1, 1, 1}},
		{"\xff\xfe i", vocabulary, []int{1, 1, 9}},
		{"  \n\t", vocabulary, nil},
	} {
		checkTokens(t, &encoding.Field{Vocabulary: c.vocabulary}, c.text, c.want)
	}
}

// checkTokens compares the tokens of a text, all of them by a clone and the first n, with those
// that it should have.
func checkTokens(t *testing.T, f *encoding.Field, text string, want []int) {
	t.Helper()
	tokens := encoding.NewTokenizer(f)
	var got []int
	tokens.Clone().Tokens([]byte(text), func(token int) bool { got = append(got, token); return true })
	if !slices.Equal(got, want) {
		t.Errorf("%q: %v, want %v", text, got, want)
	}
	for n := 1; n <= len(want); n++ {
		got = nil
		tokens.Tokens([]byte(text), func(token int) bool { got = append(got, token); return len(got) < n })
		if !slices.Equal(got, want[:n]) {
			t.Errorf("%q, the first %d: %v", text, n, got)
		}
	}
}

// TestListsOfWords looks words of lists up as they are, however a file writes the list.
func TestListsOfWords(t *testing.T) {
	vocabulary := []string{"[CLS]", "The", "play", "##ing", "it's", `a"b`, "été", ","}
	for _, c := range []struct {
		text string
		want []int
	}{
		{"[CLS] The play ##ing the [CLS]", []int{2, 3, 4, 5, 1, 2}},
		{"  \n", nil},
		{"[]", nil},
		{`["The", "playing", ",", "\u00e9t\u00e9"]`, []int{3, 1, 9, 8}},
		{`['[CLS]', "it's", 'it\'s', 'a"b', '']`, []int{2, 6, 6, 7, 1}},
		{"['The' 'play'\n '##ing']", []int{3, 4, 5}},
		{`["The", "pla`, []int{1, 1}},
		{`["The", "pla]`, []int{3, 1}},
		{`["\u00", "\uzzzz", "\`, []int{1, 1, 1}},
		{"\xff the", []int{1, 1}},
	} {
		checkTokens(t, &encoding.Field{Vocabulary: vocabulary, Words: true}, c.text, c.want)
	}
}

// A tokenizer allocates nothing after its first text.
func TestTokensAllocateNothing(t *testing.T) {
	tokens, text, n := encoding.NewTokenizer(&encoding.Field{Vocabulary: []string{"play", "##ing", "the"}}), []byte("the Playing dog, the end"), 0
	add := func(int) bool { n++; return true }
	tokens.Tokens(text, add)
	if a := testing.AllocsPerRun(10, func() { tokens.Tokens(text, add) }); a > 0 {
		t.Errorf("%v allocations", a)
	}
}

// TestLongWords cuts a word of a megabyte, known and unknown, as fast as many short ones.
func TestLongWords(t *testing.T) {
	word := bytes.Repeat([]byte("ab"), 500_000)
	begun := time.Now()
	for last, want := range map[string]int{"b": len(word), "c": 1} { // no token is c
		tokens, n := encoding.NewTokenizer(&encoding.Field{Vocabulary: []string{"a", "##a", "##b"}}), 0
		tokens.Tokens(append(word[:len(word)-1:len(word)-1], last...), func(int) bool { n++; return true })
		if n != want {
			t.Errorf("%d tokens, want %d", n, want)
		}
	}
	tokens := encoding.NewTokenizer(&encoding.Field{Vocabulary: []string{"z"}})
	tokens.Tokens(word, func(token int) bool {
		if token != data.Unknown {
			t.Errorf("token %d of an unknown word", token)
		}
		return true
	})
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("three words took %v", took)
	}
}
