package event

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyEvent draws a valid event; depth bounds the nesting.
func anyEvent(depth int) *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		kinds := 13
		if depth == 0 {
			kinds = 5
		}
		inner := func() Event { return anyEvent(depth-1).Draw(t, "of") }
		sigma := func() float64 { return rapid.Float64Range(1e-3, 1e3).Draw(t, "sigma") }
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return Gaussian{sigma()}
		case 1:
			return Laplace{sigma()}
		case 2:
			// A power of two as sensitivity keeps sigma/sensitivity exact.
			return DiscreteGaussian{sigma(), 1 << rapid.IntRange(0, 10).Draw(t, "sensitivity")}
		case 3:
			return EpsilonDelta{rapid.Float64Range(0, 100).Draw(t, "eps"), rapid.Float64Range(0, 0.5).Draw(t, "delta")}
		case 4:
			return NonPrivate{}
		case 5:
			return PoissonSampled{rapid.Float64Range(1e-9, 1).Draw(t, "q"), inner()}
		case 6:
			n := rapid.IntRange(1, 1e6).Draw(t, "n")
			return FixedSizeSampled{n, rapid.IntRange(1, n).Draw(t, "b"), inner()}
		case 7:
			return BallsAndBins{rapid.IntRange(1, 1e6).Draw(t, "m"), inner()}
		case 8:
			return Shuffled{inner()}
		case 9:
			return SelfComposed{inner(), rapid.Int64Range(0, 1e12).Draw(t, "T")}
		case 10:
			return Selected{rapid.Float64Range(1e-3, 1).Draw(t, "stop"), []Event{inner(), inner()}}
		default:
			parts := make([]Event, rapid.IntRange(1, 3).Draw(t, "parts"))
			for i := range parts {
				parts[i] = inner()
			}
			return Composed{parts}
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ev := anyEvent(3).Draw(t, "event")
		data, err := MarshalDpEvent(ev)
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalDpEvent(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(ev, back); diff != "" {
			t.Fatalf("%s\n%s", data, diff)
		}
	})
}

// The file was written by hand after dp_accounting's to_named_tuple.
func TestReadsGoogleForm(t *testing.T) {
	data, err := os.ReadFile("testdata/dp_event.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := UnmarshalDpEvent(data)
	if err != nil {
		t.Fatal(err)
	}
	want := Composed{[]Event{
		SelfComposed{PoissonSampled{0.025, Gaussian{1.31}}, 6000},
		SelfComposed{FixedSizeSampled{60000, 128, Gaussian{1.5}}, 10},
		Laplace{2},
		DiscreteGaussian{4, 2},
		EpsilonDelta{0.1, 1e-9},
	}}
	if diff := cmp.Diff(Event(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusesWhatItDoesNotUnderstand(t *testing.T) {
	const g = `{"module_name":"dp_accounting.dp_event","class_name":`
	for in, want := range map[string]string{
		``:    "EOF",
		`{}`:  "unknown event class",
		`[1]`: "cannot unmarshal",
		g + `"GaussianDpEvent","noise_multiplier":0}`:                                                          "not a finite number > 0",
		g + `"GaussianDpEvent"}`:                                                                               "missing field noise_multiplier",
		g + `"GaussianDpEvent","noise_multiplier":1,"colour":2}`:                                               "unknown field",
		g + `"GaussianDpEvent","noise_multiplier":1}{}`:                                                        "more than one",
		g + `"UnsupportedDpEvent"}`:                                                                            "unknown event class",
		g + `"SelfComposedDpEvent","count":3}`:                                                                 "missing event",
		g + `"SelfComposedDpEvent","event":null}`:                                                              "missing field count",
		g + `"DiscreteGaussianDpEvent","sigma":1,"sensitivity":1}`:                                             "only dimension 1",
		g + `"DiscreteGaussianDpEvent","sigma":1,"sensitivity":1.5,"dimension":1}`:                             "whole number",
		g + `"GaussianDpEvent","noise_multiplier":1,"count":100}`:                                              "field that the class does not have",
		g + `"ComposedDpEvent","events":[],"event":` + g + `"NonPrivateDpEvent"}}`:                             "field that the class does not have",
		g + `"NoOpDpEvent","sigma":1}`:                                                                         "field that the class does not have",
		g + `"SelfComposedDpEvent","count":100,"count":1,"event":` + g + `"NoOpDpEvent"}}`:                     "twice",
		g + `"GaussianDpEvent","noise_multiplier":1,"noi\u017fe_multiplier":100}`:                              "another name",
		g + `"GaussianDpEvent","Noise_multiplier":1}`:                                                          "another name",
		g + `"EpsilonDeltaDpEvent","epsilon":1,"delta":1}`:                                                     "not in [0, 1)",
		`{"module_name":"d3p.event","class_name":"SelectedEvent","stop":2,"events":[` + g + `"NoOpDpEvent"}]}`: "not in (0, 1]",
		`{"module_name":"d3p.event","class_name":"SelectedEvent","stop":0.5,"events":[]}`:                      "nothing to select",
		`{"module_name":"d3p.event","class_name":"SelectedEvent","stop":0.5}`:                                  "missing field events",
		`{"module_name":"d3p.event","class_name":"SelectedEvent","events":[` + g + `"NoOpDpEvent"}]}`:          "missing field stop",
		g + `"PoissonSampledDpEvent","sampling_probability":2,"event":` + g + `"NonPrivateDpEvent"}}`:          "not in (0, 1]",
	} {
		_, err := UnmarshalDpEvent([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", in, err, want)
		}
	}
}

func FuzzUnmarshalDpEvent(f *testing.F) {
	seed, err := os.ReadFile("testdata/dp_event.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"module_name":"d3p.event","class_name":"ShuffledEvent","event":{"module_name":"dp_accounting.dp_event","class_name":"NoOpDpEvent"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := UnmarshalDpEvent(data)
		if err != nil {
			return
		}
		out, err := MarshalDpEvent(ev)
		if err != nil {
			t.Fatalf("accepted %s but cannot write it: %v", data, err)
		}
		again, err := UnmarshalDpEvent(out)
		if err != nil {
			t.Fatalf("cannot read own output %s: %v", out, err)
		}
		// sigma = multiplier * sensitivity rounds once on the way out
		ulps := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(a) })
		if diff := cmp.Diff(ev, again, ulps); diff != "" {
			t.Fatalf("%s\n%s", out, diff)
		}
	})
}

func TestParseRelation(t *testing.T) {
	for _, r := range Relations() {
		got, err := ParseRelation(string(r))
		if err != nil || got != r {
			t.Errorf("ParseRelation(%q) = %q, %v", r, got, err)
		}
	}
	if _, err := ParseRelation("neighbour"); err == nil {
		t.Error("an unknown relation was accepted")
	}
}

// The parts of an event are checked, and a part that holds for one relation restricts the whole.
func TestEventsWithinEvents(t *testing.T) {
	for _, around := range []func(Event) Event{
		func(of Event) Event { return PoissonSampled{Rate: 0.5, Of: of} },
		func(of Event) Event { return FixedSizeSampled{Population: 2, Batch: 1, Of: of} },
		func(of Event) Event { return BallsAndBins{Batches: 2, Of: of} },
		func(of Event) Event { return Shuffled{Of: of} },
		func(of Event) Event { return SelfComposed{Count: 2, Of: of} },
		func(of Event) Event { return Composed{Events: []Event{of}} },
		func(of Event) Event { return Selected{Stop: 0.5, Of: []Event{of}} },
	} {
		for _, wrong := range []Event{nil, Gaussian{}} {
			if ev := around(wrong); Validate(ev) == nil {
				t.Errorf("%#v is valid", ev)
			}
		}
		if ev := around(EpsilonDelta{Epsilon: 1}); Validate(ev) != nil || !OfOneRelation(ev) {
			t.Errorf("%#v: %v, want a valid event of one relation", ev, Validate(ev))
		}
		if ev := around(Gaussian{NoiseMultiplier: 1}); OfOneRelation(ev) {
			t.Errorf("%#v is of one relation", ev)
		}
	}
}

func TestFlat(t *testing.T) {
	a, b, c, d := Gaussian{1}, Gaussian{2}, SelfComposed{Of: Composed{Events: []Event{Gaussian{3}}}, Count: 2}, Laplace{4}
	nested := Composed{Events: []Event{a, Composed{Events: []Event{b, Composed{Events: []Event{c}}}}, d}}
	if diff := cmp.Diff(Event(Composed{Events: []Event{a, b, c, d}}), Flat(nested)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Event(a), Flat(a)); diff != "" {
		t.Error(diff)
	}
}
