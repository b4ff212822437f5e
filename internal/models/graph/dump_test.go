package graph

import (
	"os"
	"testing"
)

// TestListing compares with testdata/listing.txt, which is the listing of a
// logistic regression with a varying intercept, read and found right.
func TestListing(t *testing.T) {
	b := NewBuilder()
	logit := b.Add(b.Param("intercept", nil), b.MatMul(b.Columns(0, Dim{"coef", 3}), b.Param("beta", Shape{{"coef", 3}})))
	group := b.Gather(b.Mul(b.Exp(b.Param("sd", nil)), b.Param("z", Shape{{"hospital", 20}})), "hospital", b.Column(4))
	tape, err := Compile(b, bernoulli(b, b.Column(3), b.Add(logit, group)), nil, Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/listing.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := tape.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
