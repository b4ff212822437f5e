package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/settings"
)

// groupsOf prints groups as NAME@SHARE.
func groupsOf(groups clipgroups.Groups) string {
	var list []string
	for _, g := range groups {
		size := 0
		for _, r := range g.Ranges {
			size += r.To - r.From
		}
		list = append(list, fmt.Sprintf("%s[%d]@%.4g", g.Name, size, g.Share))
	}
	return strings.Join(list, " ")
}

// groups are those of a value of clip-groups.
func groups(params []*models.Param, text string) (clipgroups.Groups, error) {
	asked, mistake := settings.ReadClipGroups(text)
	if mistake != nil {
		return nil, mistake
	}
	if asked.Rule != "" {
		return groupsByRule(params, asked), nil
	}
	return groupsByName(params, asked.Named)
}

func TestClipGroups(t *testing.T) {
	var params []*models.Param
	at := 0
	for _, p := range []struct {
		name string
		size int
	}{{"net.dense1.weight", 6}, {"net.dense1.bias", 2}, {"net.dense2.weight", 2}, {"sigma", 2}} {
		params = append(params, &models.Param{Name: p.name, Offset: at, Size: p.size})
		at += p.size
	}
	for text, want := range map[string]string{
		"each":                       "net.dense1.weight[6]@0.25 net.dense1.bias[2]@0.25 net.dense2.weight[2]@0.25 sigma[2]@0.25",
		"layers":                     "net.dense1[8]@0.3333 net.dense2[2]@0.3333 sigma[2]@0.3333",
		"each:size":                  "net.dense1.weight[6]@0.5 net.dense1.bias[2]@0.1667 net.dense2.weight[2]@0.1667 sigma[2]@0.1667",
		"layers:size":                "net.dense1[8]@0.6667 net.dense2[2]@0.1667 sigma[2]@0.1667",
		"net":                        "net[10]@0.5 rest[2]@0.5",
		"net.dense1+sigma@0.75":      "net.dense1+sigma[10]@0.75 rest[2]@0.25",
		"net@0.9,sigma@0.1":          "net[10]@0.9 sigma[2]@0.1",
		"net.dense1@0.5,sigma@0.25":  "net.dense1[8]@0.5 sigma[2]@0.25 rest[2]@0.25",
		"net.dense2,net.dense1.bias": "net.dense2[2]@0.3333 net.dense1.bias[2]@0.3333 rest[8]@0.3333",
	} {
		got, err := groups(params, text)
		sum := 0.0
		for _, g := range got {
			sum += g.Share
		}
		if err != nil || groupsOf(got) != want || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: %s, %v, want %s", text, groupsOf(got), err, want)
		}
	}
	for text, want := range map[string]string{
		"net@0.5,sigma":       "some groups have a share",
		"net@0.5,sigma@0.6":   "add up to 1.1",
		"net@0.5,sigma@0.4":   "add up to 0.9",
		"net.dense1@1":        "leave nothing",
		"net,net.dense1":      "two groups",
		"dense":               "no parameter dense (they move net.dense1.weight, ",
		"net@2":               "not a share",
		"net@0.5,sigma@-0.5":  "not a share",
		"net+sigma+net.dense": "no parameter net.dense ",
	} {
		if got, err := groups(params, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, groupsOf(got), err, want)
		}
	}
}

func TestClipGroupsNeedACPU(t *testing.T) {
	if _, err := New(normals(t, 3), Config{Records: 1000, Epsilon: 1, ClipGroups: "each", Card: true}); err == nil || !strings.Contains(err.Error(), "--device cpu") {
		t.Errorf("%v", err)
	}
}
