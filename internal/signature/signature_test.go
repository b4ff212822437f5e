package signature_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"d3p/internal/signature"
)

var file = []byte("{\n  \"schema_version\": 1\n}\n")

// keygen makes a key pair by ssh-keygen and returns the path of the private key.
func keygen(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	path := filepath.Join(t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", append([]string{"-q", "-f", path}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var kinds = map[string][]string{
	"ed25519": {"-t", "ed25519", "-N", ""}, "rsa": {"-t", "rsa", "-b", "2048", "-N", ""},
	"ecdsa": {"-t", "ecdsa", "-b", "256", "-N", ""}, "ecdsa 521": {"-t", "ecdsa", "-b", "521", "-N", ""},
}

// OpenSSH accepts our signatures, and we accept OpenSSH's.
func TestOpenSSHAgrees(t *testing.T) {
	for name, args := range kinds {
		path := keygen(t, args...)
		dir := filepath.Dir(path)
		signers := filepath.Join(dir, "signers")
		allowed := []byte("maker@example.org namespaces=\"d3p-*\" " + string(read(t, path+".pub")))
		if err := os.WriteFile(signers, allowed, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := signature.ParseSigners(allowed)
		if err != nil {
			t.Fatal(err)
		}
		key, err := signature.ParseKey(read(t, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := key.Sign(file)
		if err != nil {
			t.Fatal(err)
		}
		manifest := filepath.Join(dir, "MANIFEST.json")
		if err := errors.Join(os.WriteFile(manifest+".ours", ours, 0o600), os.WriteFile(manifest, file, 0o600)); err != nil {
			t.Fatal(err)
		}
		for content, good := range map[string]bool{string(file): true, string(file) + " ": false} {
			check := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "maker@example.org", "-n", signature.Namespace, "-s", manifest+".ours")
			check.Stdin = strings.NewReader(content)
			if out, err := check.CombinedOutput(); (err == nil) != good {
				t.Errorf("%s: ssh-keygen of ours, good %v: %v: %s", name, good, err, out)
			}
		}
		if out, err := exec.Command("ssh-keygen", "-Y", "sign", "-f", path, "-n", signature.Namespace, manifest).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", name, out)
		}
		for _, made := range [][]byte{ours, read(t, manifest+".sig")} {
			by, err := signature.Check(file, made)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if who, err := list.Who(by, time.Now()); err != nil || who != "maker@example.org" {
				t.Errorf("%s: %q, %v", name, who, err)
			}
			if _, err := signature.Check(append(file[:len(file):len(file)], ' '), made); err == nil {
				t.Errorf("%s: a signature of another file counts", name)
			}
		}
		if out, err := exec.Command("sh", "-c", "rm "+manifest+".sig; ssh-keygen -Y sign -f "+path+" -n git "+manifest).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", name, out)
		}
		if _, err := signature.Check(file, read(t, manifest+".sig")); err == nil {
			t.Errorf("%s: a signature made for git counts", name)
		}
	}
}

// Check finds every altered byte of a signature, and refuses other files.
func TestAlteredSignatures(t *testing.T) {
	key, err := signature.ParseKey(read(t, keygen(t, kinds["ed25519"]...)), nil)
	if err != nil {
		t.Fatal(err)
	}
	good, err := key.Sign(file)
	if err != nil {
		t.Fatal(err)
	}
	by, err := signature.Check(file, good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if other, err := signature.Check(file, bad); err == nil && !bytes.Equal(other.Marshal(), by.Marshal()) {
			t.Errorf("byte %d altered: another key counts", i)
		} else if err == nil && !bytes.Equal(bytes.Join(bytes.Fields(bad), nil), bytes.Join(bytes.Fields(good), nil)) {
			t.Logf("byte %d may be %q", i, bad[i]) // outside of the signed bytes
		}
	}
	for _, bad := range []string{"", "x", "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n", string(good) + string(good), strings.Replace(string(good), "SSH", "PGP", 2)} {
		if _, err := signature.Check(file, []byte(bad)); err == nil {
			t.Errorf("%q counts", bad)
		}
	}
}

// A key with a passphrase asks for it, and signs with it.
func TestPassphrase(t *testing.T) {
	text := read(t, keygen(t, "-t", "ed25519", "-N", "secret"))
	if _, err := signature.ParseKey(text, nil); !errors.Is(err, signature.ErrPassphrase) {
		t.Errorf("without passphrase: %v", err)
	}
	if _, err := signature.ParseKey(text, []byte("wrong")); err == nil {
		t.Error("a wrong passphrase opens the key")
	}
	if _, err := signature.ParseKey(text, []byte("secret")); err != nil {
		t.Error(err)
	}
}

// A key is valid for its time and its namespaces only.
func TestSigners(t *testing.T) {
	path := keygen(t, kinds["ed25519"]...)
	public := strings.TrimSpace(string(read(t, path+".pub")))
	key, err := signature.ParseKey(read(t, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := key.Sign(file)
	if err != nil {
		t.Fatal(err)
	}
	by, err := signature.Check(file, made)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.TrimSpace(string(read(t, keygen(t, kinds["ed25519"]...)+".pub")))
	now := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	for line, want := range map[string]string{
		"a@b " + public: "a@b", "# comment\n\na@b,c@d " + public: "a@b,c@d", `"a@b c" ` + public: "a@b c",
		"a@b namespaces=\"d3p-release\" " + public: "a@b", "a@b namespaces=\"git,d3p-*\" " + public: "a@b",
		"a@b namespaces=\"git\" " + public: "", "a@b namespaces=\"*,!d3p-release\" " + public: "",
		"a@b valid-before=\"20270201Z\" " + public: "a@b", "a@b valid-before=\"20270131Z\" " + public: "",
		"a@b valid-after=\"202701311159Z\" " + public: "a@b", "a@b valid-after=\"20270131120001Z\" " + public: "",
		"a@b " + other: "", "x " + other + "\na@b " + public: "a@b",
	} {
		list, err := signature.ParseSigners([]byte(line + "\n"))
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if who, err := list.Who(by, now); who != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", line, who, err, want)
		}
	}
	for _, bad := range []string{"", "# nobody", "a@b", "a@b ssh-ed25519 AAAA", "a@b cert-authority " + public, "a@b valid-before=\"soon\" " + public, public} {
		if list, err := signature.ParseSigners([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, list)
		}
	}
}
