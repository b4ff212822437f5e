package expr

import (
	"maps"
	"slices"
	"strings"

	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// Net is a network that expressions may call.
type Net interface {
	// Input is the shape that its argument must have.
	Input() graph.Shape
	// Heads names its outputs; nil when it has one without a name.
	Heads() []string
	// Call is the output of a head, "" without heads, at x, of shape Input.
	Call(b *graph.Builder, x *graph.Node, head string) *graph.Node
}

// network lowers net(x), or net(x).head.
func (l *lowering) network(c *Call, n Net, head string, headAt Position) *graph.Node {
	var x *graph.Node
	if len(c.Args) == 1 && c.Args[0].Name == "" {
		x = l.node(c.Args[0].Value)
	} else {
		l.fail(c.At, "write "+c.Func+"(x)", "net %s takes one value, not %d arguments", c.Func, len(c.Args))
	}
	heads := n.Heads()
	switch {
	case head == "" && heads != nil:
		l.fail(c.At, "write "+c.String()+"."+heads[0], "net %s has the outputs %s", c.Func, strings.Join(heads, ", "))
		return nil
	case head != "" && !slices.Contains(heads, head):
		hint := "call it as " + c.String()
		if heads != nil {
			hint = spell.Question(head, heads, "its outputs are "+strings.Join(heads, ", "))
		}
		l.fail(headAt, hint, "net %s has no output %s", c.Func, head)
		return nil
	case x == nil:
		return nil
	}
	want := n.Input()
	if have := x.Shape(); !sameDims(have, want) {
		return l.fail(c.Args[0].Value.Pos(), "its dims are those under input:", "net %s takes %v, not %v", c.Func, want, have)
	}
	return l.checked(c.At, n.Call(l.b, l.b.Expand(x, want), head))
}

// sameDims reports whether two shapes have the same dims in any order.
func sameDims(s, t graph.Shape) bool {
	for _, d := range s {
		if !slices.Contains(t, d) {
			return false
		}
	}
	return len(s) == len(t)
}

// member lowers X.name, the output of a net.
func (l *lowering) member(e *Member) *graph.Node {
	if c, ok := e.X.(*Call); ok {
		if n, ok := l.env.Nets[c.Func]; ok {
			return l.network(c, n, e.Name, e.At)
		}
	}
	if l.node(e.X) == nil {
		return nil
	}
	hint := "only the call of a net has parts"
	if names := slices.Sorted(maps.Keys(l.env.Nets)); len(names) > 0 {
		hint += ": " + strings.Join(names, ", ")
	}
	return l.fail(e.At, hint, "%s has no part %s", e.X, e.Name)
}
