package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Modules that name the class of an event in JSON. Events that dp_accounting
// has no class for are written under our own module, so that its importer
// refuses them rather than misreads them.
const (
	googleModule = "dp_accounting.dp_event"
	ownModule    = "d3p.event"
)

// named is the union of the fields of every class, as dp_accounting's
// DpEvent.to_named_tuple names them.
type named struct {
	Module string `json:"module_name"`
	Class  string `json:"class_name"`

	NoiseMultiplier *float64 `json:"noise_multiplier,omitempty"`
	Sigma           *float64 `json:"sigma,omitempty"`
	Sensitivity     *float64 `json:"sensitivity,omitempty"`
	Dimension       *int     `json:"dimension,omitempty"`
	Epsilon         *float64 `json:"epsilon,omitempty"`
	Delta           *float64 `json:"delta,omitempty"`
	Rate            *float64 `json:"sampling_probability,omitempty"`
	Population      *int     `json:"source_dataset_size,omitempty"`
	Batch           *int     `json:"sample_size,omitempty"`
	Batches         *int     `json:"batches,omitempty"`
	Count           *int64   `json:"count,omitempty"`
	Event           *named   `json:"event,omitempty"`
	Events          []*named `json:"events,omitempty"`
	Stop            *float64 `json:"stop,omitempty"`
}

// Equal compares two events by content.
func Equal(a, b Event) bool {
	x, errX := MarshalDpEvent(a)
	y, errY := MarshalDpEvent(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// MarshalDpEvent writes ev in the named-tuple form of dp_accounting's DpEvent:
// one object per event with module_name, class_name and its fields.
func MarshalDpEvent(ev Event) ([]byte, error) {
	if err := Validate(ev); err != nil {
		return nil, err
	}
	return json.Marshal(encode(ev))
}

// UnmarshalDpEvent reads the output of MarshalDpEvent or dp_accounting. An unknown class or
// field, a missing field and a value out of range are errors: an unknown event must not be
// accounted as another one.
func UnmarshalDpEvent(data []byte) (Event, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var n named
	if err := dec.Decode(&n); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("event: more than one JSON value")
	}
	if err := eachNameOnce(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return nil, err
	}
	ev, err := decode(&n, 0)
	if err != nil {
		return nil, err
	}
	return ev, Validate(ev)
}

// eachNameOnce refuses an object of valid JSON with a field that occurs twice, because
// readers differ in which value they take. They also differ in spellings of one name:
// encoding/json takes Count, and everything that Unicode folds to it, for count.
func eachNameOnce(dec *json.Decoder) error {
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return err
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == json.Delim('{') {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			key := name.(string)
			if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") != "" {
				return fmt.Errorf("event: field %q: another name than those of dp_accounting, in small letters", key)
			}
			if seen[key] {
				return fmt.Errorf("event: field %s occurs twice in an object", key)
			}
			seen[key] = true
		}
		if err := eachNameOnce(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// given is the number of present fields of any class.
func (n *named) given() (count int) {
	for _, there := range []bool{
		n.NoiseMultiplier != nil, n.Sigma != nil, n.Sensitivity != nil, n.Dimension != nil, n.Epsilon != nil, n.Delta != nil, n.Rate != nil,
		n.Population != nil, n.Batch != nil, n.Batches != nil, n.Count != nil, n.Event != nil, n.Events != nil, n.Stop != nil,
	} {
		if there {
			count++
		}
	}
	return count
}

func encode(ev Event) *named {
	google := func(class string) *named { return &named{Module: googleModule, Class: class} }
	own := func(class string) *named { return &named{Module: ownModule, Class: class} }
	var n *named
	switch e := ev.(type) {
	case Gaussian:
		n = google("GaussianDpEvent")
		n.NoiseMultiplier = &e.NoiseMultiplier
	case Laplace:
		n = google("LaplaceDpEvent")
		n.NoiseMultiplier = &e.NoiseMultiplier
	case DiscreteGaussian:
		n = google("DiscreteGaussianDpEvent")
		sensitivity, one := float64(e.Sensitivity), 1
		sigma := e.NoiseMultiplier * sensitivity
		n.Sigma, n.Sensitivity, n.Dimension = &sigma, &sensitivity, &one
	case EpsilonDelta:
		n = google("EpsilonDeltaDpEvent")
		n.Epsilon, n.Delta = &e.Epsilon, &e.Delta
	case PoissonSampled:
		n = google("PoissonSampledDpEvent")
		n.Rate, n.Event = &e.Rate, encode(e.Of)
	case FixedSizeSampled:
		n = google("SampledWithoutReplacementDpEvent")
		n.Population, n.Batch, n.Event = &e.Population, &e.Batch, encode(e.Of)
	case BallsAndBins:
		n = own("BallsAndBinsEvent")
		n.Batches, n.Event = &e.Batches, encode(e.Of)
	case Shuffled:
		n = own("ShuffledEvent")
		n.Event = encode(e.Of)
	case SelfComposed:
		n = google("SelfComposedDpEvent")
		n.Count, n.Event = &e.Count, encode(e.Of)
	case Composed:
		if len(e.Events) == 0 {
			return google("NoOpDpEvent")
		}
		n = google("ComposedDpEvent")
		n.Events = encodeAll(e.Events)
	case Selected:
		n = own("SelectedEvent")
		n.Stop, n.Events = &e.Stop, encodeAll(e.Of)
	case NonPrivate:
		n = google("NonPrivateDpEvent")
	}
	return n
}

func encodeAll(list []Event) []*named {
	all := make([]*named, len(list))
	for i, ev := range list {
		all[i] = encode(ev)
	}
	return all
}

func decode(n *named, depth int) (Event, error) {
	if n == nil {
		return nil, fmt.Errorf("event: missing event")
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("event: nested deeper than %d levels", maxDepth)
	}
	name := n.Module + "." + n.Class
	f := fields{name: name}
	var ev Event
	switch name {
	case googleModule + ".NoOpDpEvent":
		ev = Composed{}
	case googleModule + ".NonPrivateDpEvent":
		ev = NonPrivate{}
	case googleModule + ".GaussianDpEvent":
		ev = Gaussian{f.float("noise_multiplier", n.NoiseMultiplier)}
	case googleModule + ".LaplaceDpEvent":
		ev = Laplace{f.float("noise_multiplier", n.NoiseMultiplier)}
	case googleModule + ".DiscreteGaussianDpEvent":
		ev = f.discreteGaussian(n)
	case googleModule + ".EpsilonDeltaDpEvent":
		ev = EpsilonDelta{f.float("epsilon", n.Epsilon), f.float("delta", n.Delta)}
	case googleModule + ".PoissonSampledDpEvent":
		ev = PoissonSampled{f.float("sampling_probability", n.Rate), f.event(n.Event, depth)}
	case googleModule + ".SampledWithoutReplacementDpEvent":
		ev = FixedSizeSampled{f.int("source_dataset_size", n.Population), f.int("sample_size", n.Batch), f.event(n.Event, depth)}
	case ownModule + ".BallsAndBinsEvent":
		ev = BallsAndBins{f.int("batches", n.Batches), f.event(n.Event, depth)}
	case ownModule + ".ShuffledEvent":
		ev = Shuffled{f.event(n.Event, depth)}
	case googleModule + ".SelfComposedDpEvent":
		if n.Count == nil {
			return nil, fmt.Errorf("event: %s: missing field count", name)
		}
		ev = SelfComposed{f.event(n.Event, depth), *n.Count}
	case googleModule + ".ComposedDpEvent":
		if n.Events == nil {
			return nil, fmt.Errorf("event: %s: missing field events", name)
		}
		if len(n.Events) == 0 { // as NoOpDpEvent
			n.Events = nil
		}
		ev = Composed{f.events(n.Events, depth)}
	case ownModule + ".SelectedEvent":
		if n.Events == nil {
			return nil, fmt.Errorf("event: %s: missing field events", name)
		}
		ev = Selected{f.float("stop", n.Stop), f.events(n.Events, depth)}
	default:
		return nil, fmt.Errorf("event: unknown event class %q", name)
	}
	if f.err == nil && n.given() > encode(ev).given() {
		f.err = fmt.Errorf("event: %s: a field that the class does not have", name)
	}
	return ev, f.err
}

// fields reads the fields of one object and keeps the first error.
type fields struct {
	name string
	err  error
}

func (f *fields) float(key string, p *float64) float64 { return field(f, key, p) }
func (f *fields) int(key string, p *int) int           { return field(f, key, p) }

func field[T any](f *fields, key string, p *T) T {
	if p != nil {
		return *p
	}
	if f.err == nil {
		f.err = fmt.Errorf("event: %s: missing field %s", f.name, key)
	}
	var zero T
	return zero
}

func (f *fields) event(n *named, depth int) Event {
	ev, err := decode(n, depth+1)
	if err != nil && f.err == nil {
		f.err = err
	}
	return ev
}

func (f *fields) events(list []*named, depth int) (all []Event) {
	for _, n := range list {
		all = append(all, f.event(n, depth))
	}
	return all
}

// discreteGaussian accepts one dimension only: the multivariate discrete
// Gaussian is not dominated by its univariate form.
func (f *fields) discreteGaussian(n *named) Event {
	sigma, sensitivity := f.float("sigma", n.Sigma), f.float("sensitivity", n.Sensitivity)
	if f.err == nil && (n.Dimension == nil || *n.Dimension != 1) {
		f.err = fmt.Errorf("event: %s: only dimension 1 is supported", f.name)
	}
	if f.err == nil && (sensitivity < 1 || sensitivity > 1<<31 || sensitivity != float64(int(sensitivity))) {
		f.err = fmt.Errorf("event: %s: sensitivity %v is not a whole number >= 1", f.name, sensitivity)
	}
	if f.err != nil {
		return nil
	}
	return DiscreteGaussian{NoiseMultiplier: sigma / sensitivity, Sensitivity: int(sensitivity)}
}
