package report

import (
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"
)

// escapeMarkdown makes every value that a template writes plain text in Markdown, as
// html/template does for HTML: names and descriptions of a model file are no markup.
func escapeMarkdown(t *template.Template) {
	t.Funcs(template.FuncMap{"plain": plainMarkdown})
	var walk func(parse.Node)
	walk = func(n parse.Node) {
		switch n := n.(type) {
		case *parse.ListNode:
			if n == nil {
				return
			}
			for _, inner := range n.Nodes {
				walk(inner)
			}
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{parse.NewIdentifier("plain").SetTree(t.Tree).SetPos(n.Pos)}})
			}
		case *parse.IfNode:
			walk(n.List)
			walk(n.ElseList)
		case *parse.RangeNode:
			walk(n.List)
			walk(n.ElseList)
		case *parse.WithNode:
			walk(n.List)
			walk(n.ElseList)
		}
	}
	for _, part := range t.Templates() {
		walk(part.Root)
	}
}

// code is text in an indented block, without markup.
type code string

// asCode is text for an indented block: one line.
func asCode(text string) code { return code(strings.Map(oneLine, text)) }

// oneLine is c, or a blank in place of a line end or an invisible character.
func oneLine(c rune) rune {
	if unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
		return ' '
	}
	return c
}

// plainMarkdown is a value as text of one line that Markdown shows unchanged.
func plainMarkdown(value any) string {
	if block, ok := value.(code); ok {
		return string(block)
	}
	text := markers.Replace(strings.Map(oneLine, fmt.Sprint(value)))
	text = emphasis.ReplaceAllStringFunc(text, func(at string) string { return strings.Replace(at, "_", `\_`, 1) })
	if blocks.MatchString(text) {
		text = `\` + text
	}
	return strings.TrimLeft(text, " ")
}

var (
	markers = strings.NewReplacer("&", "&amp;", "<", "&lt;", `\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "~", `\~`, "](", `]\(`, "]:", `]\:`, "![", `\![`, "://", `\://`)
	// Within a word an underscore is itself.
	emphasis = regexp.MustCompile(`(^|[^0-9A-Za-z_])_|_($|[^0-9A-Za-z_])`)
	// The first letter of a heading, a quotation, a list, a rule or a table.
	blocks = regexp.MustCompile(`^\s*(#|>|=|[-+]\s|---|===)`)
)
