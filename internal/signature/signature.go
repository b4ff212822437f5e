// Package signature signs a file and checks signatures in the format of ssh-keygen -Y:
// OpenSSH and this package read each other's signatures. openssh-portable,
// PROTOCOL.sshsig.
package signature

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Namespace is the purpose of a signature; a signature for another purpose does not
// count.
const Namespace = "d3p-release"

const (
	magic     = "SSHSIG"
	blockType = "SSH SIGNATURE"
	hashName  = "sha512"
)

// envelope is the written form of a signature, after the magic.
type envelope struct {
	Version   uint32
	PublicKey string
	Namespace string
	Reserved  string
	Hash      string
	Signature string
}

// signed is the structure that the key signs, after the magic.
type signed struct {
	Namespace string
	Reserved  string
	Hash      string
	Digest    string
}

// Key is a private key that signs.
type Key struct{ signer ssh.Signer }

// ErrPassphrase: the key file is encrypted.
var ErrPassphrase = errors.New("the key has a passphrase")

// ParseKey reads a private key in the format of OpenSSH or PEM; passphrase is nil for
// a key without.
func ParseKey(text, passphrase []byte) (*Key, error) {
	var signer ssh.Signer
	var err error
	if passphrase == nil {
		signer, err = ssh.ParsePrivateKey(text)
	} else {
		signer, err = ssh.ParsePrivateKeyWithPassphrase(text, passphrase)
	}
	if missing := new(ssh.PassphraseMissingError); errors.As(err, &missing) {
		return nil, ErrPassphrase
	}
	if err != nil {
		return nil, fmt.Errorf("%w (name the file of the private key, without .pub)", err)
	}
	k := &Key{signer}
	if k.algorithm() == "" {
		return nil, fmt.Errorf("a key of type %s does not sign (ssh-keygen -t ed25519 makes one)", signer.PublicKey().Type())
	}
	return k, nil
}

// Fingerprint is the SHA-256 fingerprint of a public key, as ssh-keygen prints it.
func Fingerprint(key ssh.PublicKey) string { return ssh.FingerprintSHA256(key) }

// algorithm is the signature algorithm of the key, or "".
func (k *Key) algorithm() string {
	switch of := k.signer.PublicKey().Type(); of {
	case ssh.KeyAlgoRSA:
		return ssh.KeyAlgoRSASHA512
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return of
	}
	return ""
}

// Sign signs a file.
func (k *Key) Sign(file []byte) ([]byte, error) {
	algorithmic, ok := k.signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("the key does not sign")
	}
	signature, err := algorithmic.SignWithAlgorithm(rand.Reader, message(Namespace, hashName, digest(hashName, file)), k.algorithm())
	if err != nil {
		return nil, err
	}
	e := envelope{1, string(k.signer.PublicKey().Marshal()), Namespace, "", hashName, string(ssh.Marshal(signature))}
	return pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: append([]byte(magic), ssh.Marshal(e)...)}), nil
}

// digest is the hash of a file; nil for an unknown one.
func digest(name string, file []byte) []byte {
	switch name {
	case "sha512":
		sum := sha512.Sum512(file)
		return sum[:]
	case "sha256":
		sum := sha256.Sum256(file)
		return sum[:]
	}
	return nil
}

func message(namespace, hash string, sum []byte) []byte {
	return append([]byte(magic), ssh.Marshal(signed{namespace, "", hash, string(sum)})...)
}

// Check checks the signature of a file and returns the key that made it. A Signers file
// names the owner of a key.
func Check(file, signature []byte) (ssh.PublicKey, error) {
	block, rest := pem.Decode(signature)
	if block == nil || block.Type != blockType || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("it is no SSH signature")
	}
	body, ok := bytes.CutPrefix(block.Bytes, []byte(magic))
	var e envelope
	if !ok || ssh.Unmarshal(body, &e) != nil || e.Version != 1 {
		return nil, errors.New("it is no SSH signature of version 1")
	}
	if e.Namespace != Namespace {
		return nil, fmt.Errorf("it is for %q, not for %s", e.Namespace, Namespace)
	}
	sum := digest(e.Hash, file)
	if sum == nil {
		return nil, fmt.Errorf("its hash %q is unknown", e.Hash)
	}
	key, err := ssh.ParsePublicKey([]byte(e.PublicKey))
	if err != nil {
		return nil, err
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return nil, errors.New("signatures by certificates are not supported")
	}
	var made ssh.Signature
	if err := ssh.Unmarshal([]byte(e.Signature), &made); err != nil {
		return nil, err
	}
	if made.Format == ssh.KeyAlgoRSA {
		return nil, errors.New("it is by SHA-1, which can be forged")
	}
	if err := key.Verify(message(e.Namespace, e.Hash, sum), &made); err != nil {
		return nil, errors.New("it is of another file, or of another key")
	}
	return key, nil
}
