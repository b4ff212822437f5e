package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/settings"
)

// chooseClipGroups sets the parts of a gradient that are clipped separately:
//
//	whole                one part
//	each, layers         one part a parameter; a layer's parameters are one
//	each:size            shares in proportion to the numbers of a part, not equal ones
//	A+B@0.7,C@0.3        named parameters, or all whose names begin so before a dot
//
// All other parameters are one further part, the last.
func (p *Plan) chooseClipGroups(cfg Config) error {
	text := cfg.ClipGroups
	if text == "" || text == settings.ClipGroupsWhole {
		return nil
	}
	switch {
	case cfg.Card:
		return errors.New("--clip-groups: the CUDA engine clips whole gradients (type --device cpu)")
	case p.model == nil:
		return errors.New("--clip-groups: a density without named parameters has one group (leave it out)")
	}
	moved := clipgroups.Moved(p.model.Likelihood)
	var params []*models.Param // in which a record can have a gradient
	for i := range p.model.Params {
		if m := &p.model.Params[i]; slices.Contains(moved[m.Offset:m.Offset+m.Size], true) {
			params = append(params, m)
		}
	}
	var err error
	switch rule, how, _ := strings.Cut(text, ":"); {
	case (rule == settings.ClipGroupsEach || rule == settings.ClipGroupsLayers) && (how == "" || how == "size"):
		p.ClipGroups = groupsByRule(params, rule, how)
	default:
		p.ClipGroups, err = groupsByName(params, text)
	}
	if err == nil {
		err = p.ClipGroups.Check(p.model.Likelihood)
	}
	if err != nil {
		return fmt.Errorf("--clip-groups: %w", err)
	}
	return nil
}

// groupsByRule are groups of one parameter, or of one layer, with equal shares or shares
// in proportion to their sizes.
func groupsByRule(params []*models.Param, rule, how string) (groups clipgroups.Groups) {
	var sizes []float64
	total := 0.0
	for _, m := range params {
		name := m.Name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && rule == settings.ClipGroupsLayers {
			name = name[:dot]
		}
		last := len(groups) - 1
		if last < 0 || groups[last].Name != name {
			groups, sizes = append(groups, clipgroups.Group{Name: name}), append(sizes, 0)
			last++
		}
		groups[last].Ranges = append(groups[last].Ranges, clipgroups.Range{From: m.Offset, To: m.Offset + m.Size})
		size := 1.0
		if how == "size" {
			size = float64(m.Size)
		} else if sizes[last] > 0 {
			size = 0 // one for a whole group
		}
		sizes[last] += size
		total += size
	}
	for j := range groups {
		groups[j].Share = sizes[j] / total
	}
	return groups
}

// groupsByName reads named groups with given or equal shares.
func groupsByName(params []*models.Param, text string) (groups clipgroups.Groups, err error) {
	taken := make([]bool, len(params))
	shares := 0
	left := 1.0
	for _, part := range strings.Split(text, ",") {
		names, share, given := strings.Cut(part, "@")
		g := clipgroups.Group{Name: names}
		if given {
			if g.Share, err = strconv.ParseFloat(share, 64); err != nil || !(g.Share > 0 && g.Share <= 1) {
				return nil, fmt.Errorf("%q is not a share from above 0 to 1", share)
			}
			shares++
			left -= g.Share
		}
		for _, name := range strings.Split(names, "+") {
			found := false
			for i, m := range params {
				if m.Name != name && !strings.HasPrefix(m.Name, name+".") {
					continue
				}
				if taken[i] {
					return nil, fmt.Errorf("%s is in two groups", m.Name)
				}
				found, taken[i] = true, true
				g.Ranges = append(g.Ranges, clipgroups.Range{From: m.Offset, To: m.Offset + m.Size})
			}
			if !found {
				return nil, fmt.Errorf("records move no parameter %s (they move %s)", name, namesOf(params))
			}
		}
		groups = append(groups, g)
	}
	if shares != 0 && shares != len(groups) {
		return nil, errors.New("some groups have a share and others have none (write one for each, or for none)")
	}
	rest := clipgroups.Group{Name: "rest", Share: left}
	for i, m := range params {
		if !taken[i] {
			rest.Ranges = append(rest.Ranges, clipgroups.Range{From: m.Offset, To: m.Offset + m.Size})
		}
	}
	switch {
	case rest.Ranges != nil:
		if !(left > 1e-9) {
			return nil, errors.New("the shares leave nothing for the parameters that are in no group")
		}
		groups = append(groups, rest)
	case shares > 0 && math.Abs(left) > 1e-9:
		return nil, fmt.Errorf("the shares add up to %g, not 1", 1-left)
	}
	if shares == 0 {
		for j := range groups {
			groups[j].Share = 1 / float64(len(groups))
		}
	}
	return groups, nil
}

func namesOf(params []*models.Param) string {
	names := make([]string, len(params))
	for i, m := range params {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}
