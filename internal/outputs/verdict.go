package outputs

// The values of Verdict.Value. A verdict is about the result of a fit, not about its
// guarantee, and follows from released numbers alone.
const (
	Resolved = "resolved"
	Partly   = "partly"
	Not      = "not"
)

// Verdict is whether the fit resolved a parameter, and the reasons against it.
type Verdict struct {
	Value string `json:"verdict"`       // resolved, partly or not
	Why   string `json:"why,omitempty"` // empty if resolved
}
