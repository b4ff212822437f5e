package event

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"
)

// everyClass has an event of each class.
func everyClass() []Event {
	g := Gaussian{1}
	return []Event{
		g, Laplace{1}, DiscreteGaussian{1, 2}, EpsilonDelta{1, 0.1}, PoissonSampled{0.1, g}, FixedSizeSampled{10, 5, g},
		BallsAndBins{3, g}, Shuffled{g}, SelfComposed{g, 3}, Composed{[]Event{g, g}}, Composed{}, NonPrivate{},
	}
}

// A field that a class does not have is refused, and so is one of its own missing: both
// could mean another price. The fields and their values are those of the examples.
func TestEveryFieldBelongsToItsClass(t *testing.T) {
	var objects []map[string]any
	fields := map[string]any{}
	for _, ev := range everyClass() {
		text, err := MarshalDpEvent(ev)
		if err != nil {
			t.Fatal(err)
		}
		object := map[string]any{}
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
		maps.Copy(fields, object)
	}
	if len(fields) != 15 {
		t.Fatalf("%d fields, want all 15", len(fields))
	}
	refused := func(object map[string]any, what string) {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := UnmarshalDpEvent(text); err == nil {
			t.Errorf("%s: accepted: %s", what, text)
		}
	}
	for _, object := range objects {
		for name, value := range fields {
			was, there := object[name]
			if there {
				delete(object, name)
				refused(object, "without "+name)
				object[name] = was
			} else {
				object[name] = value
				refused(object, "with "+name)
				delete(object, name)
			}
		}
	}
}

// dp_accounting writes an empty composition for no events.
func TestEmptyComposition(t *testing.T) {
	ev, err := UnmarshalDpEvent([]byte(`{"module_name":"dp_accounting.dp_event","class_name":"ComposedDpEvent","events":[]}`))
	if c, ok := ev.(Composed); err != nil || !ok || len(c.Events) != 0 {
		t.Errorf("%v, %v", ev, err)
	}
}

// A mistake inside a part is one of the whole.
func TestMistakesOfParts(t *testing.T) {
	const part = `{"module_name":"dp_accounting.dp_event","class_name":"GaussianDpEvent"}`
	for _, whole := range []string{
		`{"module_name":"d3p.event","class_name":"ShuffledEvent","event":` + part + `}`,
		`{"module_name":"dp_accounting.dp_event","class_name":"ComposedDpEvent","events":[` + part + `]}`,
	} {
		if _, err := UnmarshalDpEvent([]byte(whole)); err == nil || !strings.Contains(err.Error(), "missing field noise_multiplier") {
			t.Errorf("%s: error %v", whole, err)
		}
	}
}

// The ends of every range, and beyond them.
func TestRanges(t *testing.T) {
	inf, nan, g := math.Inf(1), math.NaN(), Gaussian{1}
	for _, ev := range append(everyClass(),
		Gaussian{math.SmallestNonzeroFloat64}, EpsilonDelta{0, 0}, DiscreteGaussian{1, 1}, PoissonSampled{1, g},
		FixedSizeSampled{1, 1, g}, BallsAndBins{1, g}, SelfComposed{g, 0},
	) {
		if err := Validate(ev); err != nil {
			t.Errorf("%#v: %v", ev, err)
		}
	}
	for _, ev := range []Event{
		nil, Gaussian{0}, Gaussian{-1}, Gaussian{inf}, Gaussian{nan}, Laplace{0}, DiscreteGaussian{0, 1}, DiscreteGaussian{1, 0},
		EpsilonDelta{-1, 0}, EpsilonDelta{inf, 0}, EpsilonDelta{nan, 0}, EpsilonDelta{1, -0.1}, EpsilonDelta{1, 1}, EpsilonDelta{1, nan},
		PoissonSampled{0, g}, PoissonSampled{1.1, g}, PoissonSampled{nan, g}, FixedSizeSampled{10, 0, g}, FixedSizeSampled{10, 11, g},
		BallsAndBins{0, g}, SelfComposed{g, -1}, Composed{[]Event{g, nil}},
	} {
		if Validate(ev) == nil {
			t.Errorf("%#v is valid", ev)
		}
	}
}

// Events nest 64 deep, whatever holds them, so that no file exhausts the stack.
func TestDepth(t *testing.T) {
	for _, hold := range []func(Event) Event{
		func(ev Event) Event { return PoissonSampled{0.5, ev} },
		func(ev Event) Event { return FixedSizeSampled{2, 1, ev} },
		func(ev Event) Event { return BallsAndBins{2, ev} },
		func(ev Event) Event { return Shuffled{ev} },
		func(ev Event) Event { return SelfComposed{ev, 2} },
		func(ev Event) Event { return Composed{[]Event{ev}} },
	} {
		var ev Event = Gaussian{1}
		for range maxDepth {
			ev = hold(ev)
		}
		text, err := MarshalDpEvent(ev)
		if err != nil {
			t.Fatalf("%T: %d levels: %v", ev, maxDepth, err)
		}
		if _, err := UnmarshalDpEvent(text); err != nil {
			t.Errorf("%T: %d levels: %v", ev, maxDepth, err)
		}
		if Validate(hold(ev)) == nil {
			t.Errorf("%T: %d levels are valid", ev, maxDepth+1)
		}
		deeper, err := json.Marshal(encode(hold(ev)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := UnmarshalDpEvent(deeper); err == nil || !strings.Contains(err.Error(), "nested deeper") {
			t.Errorf("%T: %d levels are read: %v", ev, maxDepth+1, err)
		}
	}
}
