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
	// Length reports why a call cannot state a length; "" if it can.
	Length() string
	// Call is the output of a head, "" without heads, at x, of shape Input. Of the
	// positions along the last dim of x the first length count, all if it is nil.
	Call(b *graph.Builder, x, length *graph.Node, head string) *graph.Node
}

// network lowers net(x), or net(x).head.
func (l *lowering) network(c *Call, n Net, head string, headAt Position) *graph.Node {
	x, length := l.netArguments(c, n)
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
	return l.checked(c.At, n.Call(l.b, l.b.Expand(x, want), length, head))
}

// netArguments are the value that a net is called with, nil after a mistake, and the
// length of its sequence, nil without one.
func (l *lowering) netArguments(c *Call, n Net) (x, length *graph.Node) {
	two := len(c.Args) == 2 && c.Args[1].Name == lengthArgument
	if len(c.Args) != 1 && !two || c.Args[0].Name != "" {
		l.fail(c.At, "write "+c.Func+"(x), or "+c.Func+"(x, length=n)", "net %s takes one value and a length, not %d arguments", c.Func, len(c.Args))
		return nil, nil
	}
	x = l.node(c.Args[0].Value)
	if !two || x == nil {
		return x, nil
	}
	if why := n.Length(); why != "" {
		l.fail(c.Args[1].At, "leave out length=", "%s", why)
		return nil, nil
	}
	length = l.node(c.Args[1].Value)
	if column, ok := c.LengthColumn(); ok && l.env.Values[column.ID].Raw != nil {
		length = l.env.Values[column.ID].Raw
	}
	switch {
	case length == nil:
		return nil, nil
	case len(length.Shape()) > 0:
		l.fail(c.Args[1].At, "such as a column", "length is one number, not %v", length.Shape())
		return nil, nil
	}
	return x, length
}

// LengthColumn is the name that states the length in the call of a net: a column there
// counts positions in the unit of the file.
func (c *Call) LengthColumn() (*Name, bool) {
	if len(c.Args) != 2 || c.Args[1].Name != lengthArgument {
		return nil, false
	}
	name, ok := c.Args[1].Value.(*Name)
	return name, ok
}

// lengthArgument is the name of the second argument of a net.
const lengthArgument = "length"

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
