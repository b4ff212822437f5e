package accounting

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// ReadEvent reads an event from a file in one of three forms: the JSON of dp_accounting;
// the history of an Opacus accountant (a list of [noise multiplier, sampling rate, steps],
// or its state_dict); or a CSV table, see readMechanisms.
func ReadEvent(path string) (ev event.Event, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, status.With(status.Data, atomicfile.Named(path, err))
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	switch state := struct{ History json.RawMessage }{}; {
	case bytes.HasPrefix(text, []byte("[")):
		ev, err = opacusHistory(text)
	case !bytes.HasPrefix(text, []byte("{")):
		ev, err = readMechanisms(text)
	case json.Unmarshal(text, &state) == nil && state.History != nil:
		ev, err = opacusHistory(state.History)
	default:
		ev, err = event.UnmarshalDpEvent(text)
	}
	if err != nil {
		return nil, status.With(status.Data, fmt.Errorf("%s: %w", path, err))
	}
	return ev, nil
}

// opacusHistory is the history of an Opacus accountant: Poisson-sampled Gaussian steps.
func opacusHistory(text []byte) (event.Event, error) {
	var history [][3]float64
	if err := json.Unmarshal(text, &history); err != nil {
		return nil, fmt.Errorf("a history is a list of [noise multiplier, sampling rate, steps], as [[1.1, 0.01, 1000]]")
	}
	var parts []event.Event
	for i, h := range history {
		m := Mechanism{Sampling: sampler.Poisson, Noise: h[0], Rate: h[1], Steps: int64(h[2])}
		if float64(m.Steps) != h[2] {
			return nil, fmt.Errorf("entry %d: %v is no number of steps", i+1, h[2])
		}
		ev, err := m.checked()
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		parts = append(parts, ev)
	}
	return composedOf(parts)
}

// readMechanisms reads a table with one mechanism per line. Its columns are
// noise_multiplier, sampling_rate (empty: 1), steps (1), sampling (poisson, or full at rate
// 1) and records; or epsilon and delta alone.
func readMechanisms(text []byte) (event.Event, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.TrimLeadingSpace = true
	lines, err := r.ReadAll()
	if err != nil || len(lines) < 2 {
		return nil, fmt.Errorf("neither JSON nor a table with the columns noise_multiplier, sampling_rate and steps, or epsilon and delta")
	}
	for _, name := range lines[0] {
		if !strings.Contains(" noise_multiplier sampling_rate steps sampling records epsilon delta name ", " "+strings.TrimSpace(name)+" ") {
			return nil, fmt.Errorf("unknown column %q (columns: noise_multiplier, sampling_rate, steps, sampling, records; epsilon, delta; name)", name)
		}
	}
	var parts []event.Event
	for i, line := range lines[1:] {
		ev, err := mechanismOf(lines[0], line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		parts = append(parts, ev)
	}
	return composedOf(parts)
}

// mechanismOf is the event of one line of a table.
func mechanismOf(header, line []string) (event.Event, error) {
	m := Mechanism{Rate: 1, Steps: 1}
	given := map[string]float64{}
	for i, name := range header {
		name, cell := strings.TrimSpace(name), strings.TrimSpace(line[i])
		switch {
		case cell == "" || name == "name":
			continue
		case name == "sampling":
			m.Sampling = cell
			continue
		}
		x, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a number", name, cell)
		}
		if whole := name == "steps" || name == "records"; whole && x != float64(int64(x)) {
			return nil, fmt.Errorf("%s: %q is not a whole number", name, cell)
		}
		given[name] = x
	}
	epsilon, blackBox := given["epsilon"]
	noise, gaussian := given["noise_multiplier"]
	if blackBox == gaussian {
		return nil, fmt.Errorf("a mechanism has a noise_multiplier or an epsilon, and not both")
	}
	if steps, ok := given["steps"]; ok {
		m.Steps = int64(steps)
	}
	if blackBox {
		ev := event.SelfComposed{Of: event.EpsilonDelta{Epsilon: epsilon, Delta: given["delta"]}, Count: m.Steps}
		return ev, event.Validate(ev)
	}
	m.Noise, m.Records = noise, int(given["records"])
	if rate, ok := given["sampling_rate"]; ok {
		m.Rate = rate
	}
	if m.Sampling == "" {
		m.Sampling = sampler.Poisson
		if m.Rate == 1 {
			m.Sampling = sampler.Full
		}
	}
	return m.checked()
}

// checked is the event of a mechanism with valid numbers. Its errors name the file, not a
// flag.
func (m *Mechanism) checked() (event.Event, error) {
	m.Relation = string(event.AddRemove) // the caller checks the relation
	values := map[string]any{"sampling": m.Sampling, "sampling-rate": m.Rate, "noise-multiplier": m.Noise, "steps": m.Steps}
	if m.Records != 0 {
		values["records"] = m.Records
	}
	for _, row := range settings.Table() {
		if value, ok := values[row.Name]; ok {
			if _, mistake := row.Read(row.Print(value)); mistake != nil {
				return nil, fmt.Errorf("%s: %w", row.Field(), mistake)
			}
		}
	}
	if _, err := m.Check(); err != nil {
		return nil, errors.New(err.Error())
	}
	if err := m.CheckRun(); err != nil {
		return nil, errors.New(err.Error())
	}
	return m.Event(m.Noise, m.Steps), nil
}

// composedOf is the event that composes all parts.
func composedOf(parts []event.Event) (event.Event, error) {
	switch len(parts) {
	case 0:
		return nil, fmt.Errorf("no mechanism in it")
	case 1:
		return parts[0], nil
	}
	return event.Composed{Events: parts}, nil
}
