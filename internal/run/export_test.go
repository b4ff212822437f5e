package run

import "d3p/internal/privacy"

// UntilStopped is untilStopped, for tests.
var UntilStopped = untilStopped

// InStep are the processes of r for a curator.
func (r Ranks) InStep() privacy.Ranks { return r.inStep }
