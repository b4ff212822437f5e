package main

import (
	"bytes"
	"testing"
)

// Every command that stands for a word of other tools exists, and the word is free.
func TestOtherCommands(t *testing.T) {
	names := make(map[string]bool)
	for _, c := range newRoot(&app{out: new(bytes.Buffer), err: new(bytes.Buffer)}).Commands() {
		names[c.Name()] = true
	}
	for word, meant := range otherCommands {
		if names[word] || !names[meant] {
			t.Errorf("%s stands for %s: commands %t, %t", word, meant, names[word], names[meant])
		}
	}
}
