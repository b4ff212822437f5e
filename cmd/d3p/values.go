package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"d3p/internal/spell"
)

// optionalFloat is a flag of a float64 that may stay unset (nil).
type optionalFloat struct{ to **float64 }

func (o optionalFloat) Type() string { return "float64" }

func (o optionalFloat) String() string {
	if o.to == nil || *o.to == nil {
		return ""
	}
	return strconv.FormatFloat(**o.to, 'g', -1, 64)
}

func (o optionalFloat) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	*o.to = &x
	return nil
}

// checkValue refuses a given value that the plan would take for "not given", or
// that no fit can mean; plan.New checks how values fit each other.
func checkValue(row setting, v pflag.Value) error {
	if row.name == "device" {
		_, err := deviceNumber(v.String())
		return err
	}
	if len(row.choices) > 0 {
		return oneOf(row.choices, v)
	}
	switch v.Type() {
	case "int":
		least := 1
		if row.name == "draws" { // of weights that are points there are none
			least = 0
		}
		if n, err := strconv.Atoi(v.String()); err == nil && n < least {
			return fmt.Errorf("%s is less than %d", v, least)
		}
	case "float64":
		if x, err := strconv.ParseFloat(v.String(), 64); err == nil {
			return checkNumber(row.name, x)
		}
	}
	return nil
}

// checkNumber refuses numbers outside a setting's range; NaN is outside of all.
func checkNumber(name string, x float64) error {
	switch name {
	case "delta", "clip-quantile":
		if !(x > 0 && x < 1) {
			return fmt.Errorf("%g is not between 0 and 1", x)
		}
	case "sampling-rate":
		if !(x > 0 && x <= 1) {
			return fmt.Errorf("%g is not above 0 and at most 1", x)
		}
	case "averaging", "momentum", "weight-decay":
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("%g is not from 0 to 1", x)
		}
	default:
		if math.IsInf(x, 1) {
			return fmt.Errorf("%g is not finite", x)
		}
		if !(x > 0) {
			return fmt.Errorf("%g is not positive", x)
		}
	}
	return nil
}

// oneOf checks that v holds one of words. Model files write them with
// underscores, flags with hyphens; both are understood.
func oneOf(words []string, v pflag.Value) error {
	if list, ok := v.(pflag.SliceValue); ok {
		for _, word := range list.GetSlice() {
			if !slices.Contains(words, word) {
				return unknownWord(word, words)
			}
		}
		return nil
	}
	word := v.String()
	for _, w := range words {
		if strings.ReplaceAll(w, "_", "-") == strings.ReplaceAll(word, "_", "-") {
			return v.Set(w)
		}
	}
	return unknownWord(word, words)
}

func unknownWord(word string, words []string) error {
	return fmt.Errorf("unknown value %s%s; one of %s", word, spell.Hint(word, words), strings.Join(words, ", "))
}
