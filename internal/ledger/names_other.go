//go:build !unix

package ledger

// namesOf is 1: how many names a file has is not asked for here.
func namesOf(string) (int, error) { return 1, nil }
