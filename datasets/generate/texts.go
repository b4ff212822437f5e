package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The two sets of texts are as small as a test of a recurrent layer allows.
const reviewCount, nameCount = 1500, 1500

// The words of reviews. Words of opinion decide the label, and "not" reverses the next one.
var (
	praise    = strings.Fields("great lovely fine warm clever moving")
	blame     = strings.Fields("poor dull cold awful weak slow")
	neutral   = strings.Fields("the film was and a story with its end scene i saw actors in it")
	reviewAll = append(append(append([]string{"not", ",", "."}, praise...), blame...), neutral...)
)

// reviews draws n short reviews, with label 1 if more words praise than blame.
func reviews(n int) []byte {
	rng := rand.New(rand.NewPCG(2026, 50))
	var out strings.Builder
	out.WriteString("liked,review\n")
	for k := 0; k < n; {
		var words []string
		balance := 0
		for range 4 + rng.IntN(12) {
			if rng.Float64() < 0.6 {
				words = append(words, neutral[rng.IntN(len(neutral))])
				continue
			}
			sign, list := 1, praise
			if rng.IntN(2) == 0 {
				sign, list = -1, blame
			}
			if rng.Float64() < 0.2 {
				sign = -sign
				words = append(words, "not")
			}
			balance += sign
			words = append(words, list[rng.IntN(len(list))])
			if rng.IntN(4) == 0 {
				words[len(words)-1] += ","
			}
		}
		if balance == 0 {
			continue
		}
		liked := 0
		if balance > 0 {
			liked = 1
		}
		text := strings.Join(words, " ")
		fmt.Fprintf(&out, "%d,\"%s%s.\"\n", liked, strings.ToUpper(text[:1]), text[1:])
		k++
	}
	return []byte(out.String())
}

// vocabulary has the words of reviews, one per line.
func vocabulary() []byte { return []byte(strings.Join(reviewAll, "\n") + "\n") }

// names draws n made-up names of three lands that differ in syllables and endings.
func names(n int) []byte {
	lands := []struct {
		name              string
		starts, mids, end []string
	}{
		{"north", strings.Fields("Bj Sv Gr Kn H Th"), strings.Fields("or en al und ar"), strings.Fields("sen dotter vik gard")},
		{"south", strings.Fields("M R L C P B"), strings.Fields("ari osse ucci ane ella"), strings.Fields("ni ti no lla rio")},
		{"east", strings.Fields("Ta Ki Mo Sa Na Hi"), strings.Fields("ka shi mu ra no"), strings.Fields("moto ta mi ko ru")},
	}
	rng := rand.New(rand.NewPCG(2026, 51))
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	var out strings.Builder
	out.WriteString("name,land\n")
	for range n {
		land := lands[rng.IntN(len(lands))]
		name := pick(land.starts) + pick(land.mids)
		if rng.IntN(2) == 0 {
			name += pick(land.mids)
		}
		fmt.Fprintf(&out, "%s,%s\n", name+pick(land.end), land.name)
	}
	return []byte(out.String())
}
