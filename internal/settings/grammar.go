package settings

import (
	"slices"
	"strconv"
	"strings"

	"d3p/internal/privacy/schedule"
)

// MostShare is the largest share of μ² that one kind of purchase beside the fit may take.
const MostShare = 0.5

// ShareTolerance is the rounding that a sum of shares may have.
const ShareTolerance = 1e-9

// traceShare is the share of μ² that pays for a trace unless one is given.
const traceShare = 0.03

// Traced is a value of trace: the quantities to buy and the share of μ² that pays for them.
type Traced struct {
	Quantities []string
	Share      float64
}

// ReadTrace reads none or NAME,NAME@SHARE.
func ReadTrace(text string) (t Traced, m *Mistake) {
	if text == "" || text == TraceNone {
		return t, nil
	}
	names, given, ok := strings.Cut(text, "@")
	t.Share = traceShare
	if ok {
		var err error
		if t.Share, err = strconv.ParseFloat(given, 64); err != nil || !(t.Share > 0 && t.Share <= MostShare) {
			return t, mistake("write loss@0.03", "%q is not a share of the budget up to %g", given, MostShare)
		}
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(TraceQuantities(), name) || slices.Contains(t.Quantities, name) {
			return t, mistake("", "%q is not one of %s, each once", name, strings.Join(TraceQuantities(), ", "))
		}
		t.Quantities = append(t.Quantities, name)
	}
	return t, nil
}

// ClipGroups is a value of clip-groups: a rule or named groups.
type ClipGroups struct {
	Rule   string // ClipGroupsEach or ClipGroupsLayers; "" for named groups
	BySize bool   // a rule gives shares in proportion to the numbers of a group
	Named  []ClipGroup
}

// ClipGroup is a named group of parameters. Share 0 means that no group has a share.
type ClipGroup struct {
	Parameters []string // names, or what names begin with before a dot
	Share      float64
}

// ReadClipGroups reads the forms
//
//	whole                one part
//	each, layers         one part a parameter; a layer's parameters are one
//	each:size            shares in proportion to the numbers of a part, not equal ones
//	A+B@0.7,C@0.3        named parameters, or all whose names begin so before a dot
func ReadClipGroups(text string) (g ClipGroups, m *Mistake) {
	if text == "" || text == ClipGroupsWhole {
		return g, nil
	}
	if rule, how, ok := strings.Cut(text, ":"); rule == ClipGroupsEach || rule == ClipGroupsLayers {
		if ok && how != "size" {
			return g, mistake("write "+rule+":size, or "+rule, "unknown rule %s", text)
		}
		return ClipGroups{Rule: rule, BySize: ok}, nil
	}
	shares, sum, seen := 0, 0.0, map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		names, share, given := strings.Cut(part, "@")
		group := ClipGroup{Parameters: strings.Split(names, "+")}
		for _, name := range group.Parameters {
			if seen[name] {
				return g, mistake("", "%s is in two groups", name)
			}
			seen[name] = true
		}
		if given {
			var err error
			if group.Share, err = strconv.ParseFloat(share, 64); err != nil || !(group.Share > 0 && group.Share <= 1) {
				return g, mistake("", "%q is not a share from above 0 to 1", share)
			}
			shares++
			sum += group.Share
		}
		g.Named = append(g.Named, group)
	}
	switch {
	case shares != 0 && shares != len(g.Named):
		return g, mistake("write one for each, or for none", "some groups have a share and others have none")
	case sum-1 > ShareTolerance:
		return g, mistake("", "the shares add up to %.4g, not 1", sum)
	}
	return g, nil
}

// traceForm, clipGroupsForm and scheduleForm are the mistakes in texts with a grammar; nil for none.
func traceForm(text string) *Mistake      { _, m := ReadTrace(text); return m }
func clipGroupsForm(text string) *Mistake { _, m := ReadClipGroups(text); return m }
func scheduleForm(text string) *Mistake {
	if _, err := schedule.Parse(text, 1); err != nil {
		return mistake("", "%v", err)
	}
	return nil
}
