package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// writeCurves writes the curves of a ledger as a CSV file with the columns curve, x
// and y, one point a line; every point bounds the attacker:
//
//	privacy   epsilon, delta
//	tradeoff  false-positive rate, least false-negative rate of any test
//	renyi     order, divergence; absent where it is infinite or not known
func writeCurves(path string, c *accountant.Curve, ev event.Event, rel event.Relation) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	point := func(curve string, x, y float64) {
		w.Write([]string{curve, strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(y, 'g', -1, 64)})
	}
	w.Write([]string{"curve", "x", "y"})
	const perDecade = 8
	for i := 0; i <= 14*perDecade; i++ {
		delta := math.Pow(10, -float64(i)/perDecade)
		if epsilon := c.Epsilon(delta); !math.IsInf(epsilon, 1) {
			point("privacy", epsilon, delta)
		}
	}
	for i := 5 * perDecade; i > 0; i-- { // small rates, where tests of membership are judged
		fpr := math.Pow(10, -float64(i)/perDecade) / 2
		point("tradeoff", fpr, c.Tradeoff(fpr))
	}
	for i := 50; i <= 100; i++ {
		fpr := float64(i) / 100
		point("tradeoff", fpr, c.Tradeoff(fpr))
	}
	renyi, err := accountant.RenyiCurve(ev, rel)
	if unknown := new(accountant.UnsupportedError); err != nil && !errors.As(err, &unknown) {
		return err
	}
	for _, p := range renyi {
		point("renyi", p.Order, p.Epsilon)
	}
	w.Flush()
	if err := writeOut(path, b.Bytes()); err != nil {
		return fmt.Errorf("--curve: %w", err)
	}
	return nil
}
