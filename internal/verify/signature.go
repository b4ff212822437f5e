package verify

import (
	"errors"
	"io/fs"
	"time"

	"d3p/internal/release"
	"d3p/internal/signature"
)

// Signature checks the signature of a release, and with a list of signers its owner at
// the time of the check. Without a list, nil, a release may be unsigned; then ok is
// false.
func Signature(files *release.Folder, signers signature.Signers, now time.Time) (c Check, ok bool) {
	c.Name = release.SignatureName
	made, err := files.Signature()
	if errors.Is(err, fs.ErrNotExist) {
		c.Detail = "missing: the release is not signed"
		return c, signers != nil
	}
	if err != nil {
		c.Detail = "not readable: " + err.Error()
		return c, true
	}
	_, manifest := files.Manifest()
	key, err := signature.Check(manifest, made)
	if err != nil {
		c.Detail = "does not hold: " + err.Error()
		return c, true
	}
	c.Detail = "the manifest is signed by the key " + signature.Fingerprint(key)
	if signers == nil {
		c.OK, c.Detail = true, c.Detail+"; --signers FILE checks whose that is"
		return c, true
	}
	who, err := signers.Who(key, now)
	if err != nil {
		c.Detail = err.Error()
		return c, true
	}
	c.OK, c.Detail = true, c.Detail+", of "+who
	return c, true
}
