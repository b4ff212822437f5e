package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"d3p/internal/nearest"
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
// that no fit can mean; fit.NewPlan checks how values fit each other.
func checkValue(row setting, v pflag.Value) error {
	if len(row.choices) > 0 {
		return oneOf(row.choices, v)
	}
	x := math.NaN()
	switch v.Type() {
	case "int":
		n, err := strconv.Atoi(v.String())
		if err == nil && n < 1 {
			return fmt.Errorf("%s is less than 1", v)
		}
		return nil
	case "float64":
		x, _ = strconv.ParseFloat(v.String(), 64)
	default:
		return nil
	}
	switch row.name {
	case "delta", "clip-quantile":
		if !(x > 0 && x < 1) {
			return fmt.Errorf("%s is not between 0 and 1", v)
		}
	case "sampling-rate":
		if !(x > 0 && x <= 1) {
			return fmt.Errorf("%s is not above 0 and at most 1", v)
		}
	case "averaging", "momentum", "weight-decay":
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("%s is not from 0 to 1", v)
		}
	default:
		if !(x > 0) || math.IsInf(x, 1) {
			return fmt.Errorf("%s is not positive", v)
		}
	}
	return nil
}

// oneOf checks that v holds one of words. Model files write them with
// underscores, flags with hyphens; both are understood.
func oneOf(words []string, v pflag.Value) error {
	word := v.String()
	for _, w := range words {
		if strings.ReplaceAll(w, "_", "-") == strings.ReplaceAll(word, "_", "-") {
			return v.Set(w)
		}
	}
	return fmt.Errorf("unknown value %s%s; one of %s", word, nearest.Hint(word, words), strings.Join(words, ", "))
}
