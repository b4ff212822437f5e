package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/release"
	"d3p/internal/status"
)

// A signed release verifies with its maker's key, by d3p and by ssh-keygen, and with
// no other; without a signature, or with one of another release, it does not.
func TestSignedRelease(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"maker", "other", "locked"} {
		passphrase := ""
		if name == "locked" {
			passphrase = "secret"
		}
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", at(name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		public, err := os.ReadFile(at(name + ".pub"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name+".signers"), append([]byte(name+"@example.org "), public...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := smallRun(t, "--sign", at("maker"))
	folder := filepath.Join(run, "release")
	verify := func(want bool, args ...string) {
		t.Helper()
		failed, exit := verifyJSON(t, args...)
		if (exit == 0) != want || !want && !strings.HasPrefix(strings.Join(failed, "\n"), release.SignatureName) {
			t.Errorf("%v: exit status %d, want success %v: %v", args, exit, want, failed)
		}
	}
	verify(true, folder)
	verify(true, "--signers", at("maker.signers"), folder)
	verify(false, "--signers", at("other.signers"), folder)

	manifest, err := os.Open(filepath.Join(folder, release.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	check := exec.Command("ssh-keygen", "-Y", "verify", "-f", at("maker.signers"), "-I", "maker@example.org", "-n", "d3p-release", "-s", filepath.Join(folder, release.SignatureName))
	check.Stdin = manifest
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("ssh-keygen: %v: %s", err, out)
	}

	// A forger who mends the hashes cannot mend the signature, nor leave it out.
	forge(t, folder, forgery{"privacy.md", "cohort", "census"})
	failed, exit := verifyJSON(t, "--signers", at("maker.signers"), folder)
	if exit != int(status.Data) || !strings.Contains(strings.Join(failed, "\n"), release.SignatureName+": does not hold") {
		t.Errorf("altered: exit status %d, %v", exit, failed)
	}
	unsigned := smallRun(t)
	verify(true, unsigned)
	verify(false, "--signers", at("maker.signers"), unsigned)
	signature, err := os.ReadFile(filepath.Join(folder, release.SignatureName))
	if err == nil {
		err = os.WriteFile(filepath.Join(unsigned, "release", release.SignatureName), signature, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	verify(false, unsigned)
	path := filepath.Join(unsigned, "release", release.SignatureName)
	if err := errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)); err != nil {
		t.Fatal(err)
	}
	if _, exit := verifyJSON(t, unsigned); exit == 0 {
		t.Error("a signature that is a device counts")
	}

	// A bad key is refused before anything is written or charged.
	for name, key := range map[string]string{"missing": at("nosuch"), "no key": at("maker.signers"), "public": at("maker.pub")} {
		out := filepath.Join(dir, "never")
		var errs bytes.Buffer
		data := filepath.Join(filepath.Dir(run), "cohort.csv")
		if exit := (&app{out: &errs, err: &errs}).run(t.Context(), []string{"fit", "--epsilon", "1", "--sign", key, "--out", out, data}); exit != int(status.Usage) {
			t.Errorf("%s: exit status %d: %s", name, exit, errs.String())
		}
		if _, err := os.Lstat(out); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
}
