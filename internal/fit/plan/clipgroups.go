package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/models"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/settings"
)

// chooseClipGroups sets the parts of a gradient that are clipped separately. Beside named
// parameters, all others are one further part, the last.
func (p *Plan) chooseClipGroups(cfg Config) error {
	asked, mistake := settings.ReadClipGroups(cfg.ClipGroups)
	switch {
	case mistake != nil:
		return fmt.Errorf("--clip-groups: %w", mistake)
	case asked.Rule == "" && asked.Named == nil:
		return nil
	case cfg.Card:
		return errors.New("--clip-groups: the CUDA engine clips whole gradients (type --device cpu)")
	}
	moved := clipgroups.Moved(p.model.Likelihood)
	var params []*models.Param // in which a record can have a gradient
	for i := range p.model.Params {
		if m := &p.model.Params[i]; slices.Contains(moved[m.Offset:m.Offset+m.Size], true) {
			params = append(params, m)
		}
	}
	var err error
	if asked.Rule != "" {
		p.ClipGroups = groupsByRule(params, asked)
	} else {
		p.ClipGroups, err = groupsByName(params, asked.Named)
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
func groupsByRule(params []*models.Param, asked settings.ClipGroups) (groups clipgroups.Groups) {
	var sizes []float64
	total := 0.0
	for _, m := range params {
		name := m.Name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && asked.Rule == settings.ClipGroupsLayers {
			name = name[:dot]
		}
		last := len(groups) - 1
		if last < 0 || groups[last].Name != name {
			groups, sizes = append(groups, clipgroups.Group{Name: name}), append(sizes, 0)
			last++
		}
		groups[last].Ranges = append(groups[last].Ranges, clipgroups.Range{From: m.Offset, To: m.Offset + m.Size})
		size := 1.0
		if asked.BySize {
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

// groupsByName finds the parameters of named groups with given or equal shares.
func groupsByName(params []*models.Param, named []settings.ClipGroup) (groups clipgroups.Groups, err error) {
	taken := make([]bool, len(params))
	left := 1.0
	for _, group := range named {
		g := clipgroups.Group{Name: strings.Join(group.Parameters, "+"), Share: group.Share}
		left -= group.Share
		for _, name := range group.Parameters {
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
	rest := clipgroups.Group{Name: "rest", Share: left}
	for i, m := range params {
		if !taken[i] {
			rest.Ranges = append(rest.Ranges, clipgroups.Range{From: m.Offset, To: m.Offset + m.Size})
		}
	}
	switch {
	case rest.Ranges != nil:
		if left <= settings.ShareTolerance {
			return nil, errors.New("the shares leave nothing for the parameters that are in no group")
		}
		groups = append(groups, rest)
	case named[0].Share > 0 && math.Abs(left) > settings.ShareTolerance:
		return nil, fmt.Errorf("the shares add up to %g, not 1", 1-left)
	}
	if named[0].Share == 0 {
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
