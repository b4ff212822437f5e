// Package noise makes every random number of d3p.
//
// One Root key, from the operating system's CSPRNG, is expanded into one AES-256-CTR
// Stream per Purpose. A stream is addressed by step, so the numbers of a step depend on
// (root, purpose, step) only, not on threads, devices or earlier draws.
// docs/design/noise.md lists the exact draws, and those that rely on AES.
//
// Keys. A run takes 32 bytes from the operating system (System); only
// --insecure-noise-seed fixes them. --seed makes a Public root, which panics if asked for
// sampling, gradient noise, count noise, noise of records or the choice of a unit's rows.
// Each purpose has its own key: HKDF-SHA256 (RFC 5869) with the root as secret, the salt
// "d3p noise v1" and the purpose's name as info. The 16-byte counter block under it is
//
//	step, 64 bits, big-endian | block within the step, 64 bits, big-endian
//
// The step of the stream that chooses rows is a hash of the unit's id, its block the place of the row.
// A stream that reaches the next step's counters panics. Blocks of a step: from 0 for
// numbers drawn in order; in the sampling stream from 2^32 for the subset or permutation
// and from 2^48 for replaced words; in noise streams from 2^62 for the further bits of
// normals. AES is crypto/aes, or the same bits from AES-NI or VAES.
//
// No step's numbers may be drawn twice: each session on the same records has its own
// Child root (info "child n"), and a resumed run takes a fresh root. Checkpoints contain
// no keys.
package noise

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Root is the secret from which all streams of a run are derived. Copies share
// the key, so Wipe on one wipes all. The zero Root has no key and panics when
// asked for a stream.
type Root struct {
	key  *[32]byte
	kind kind
}

type kind uint8

const (
	secret   kind = iota // key from the operating system
	insecure             // key from a known seed: the run is NOT PRIVATE
	public               // key from a known seed, for public purposes only
)

// System returns a fresh root from the operating system's CSPRNG. The error is the
// operating system's, and practically never occurs.
func System() (Root, error) {
	r := Root{key: new([32]byte), kind: secret}
	if _, err := rand.Read(r.key[:]); err != nil {
		return Root{}, fmt.Errorf("noise: no random numbers from the operating system: %w", err)
	}
	return r, nil
}

// Insecure returns the root of a known seed, for tests and for --insecure-noise-seed.
// With the seed anyone can subtract the noise.
func Insecure(seed uint64) Root { return seeded(insecure, "d3p insecure noise seed", seed) }

// Public returns the root of a known seed for draws that protect nothing (--seed). Its
// Stream panics for purposes that privacy depends on.
func Public(seed uint64) Root { return seeded(public, "d3p public seed", seed) }

func seeded(k kind, label string, seed uint64) Root {
	key := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(label), seed))
	return Root{key: &key, kind: k}
}

// Insecure reports whether the key comes from a known seed although it may
// serve private purposes, so that the run must be stamped NOT PRIVATE.
func (r Root) Insecure() bool { return r.kind == insecure }

// Stream returns the stream of purpose p at step 0. Its key is
// HKDF-SHA256(secret = root key, salt = "d3p noise v1", info = name of p),
// RFC 5869.
func (r Root) Stream(p Purpose) *Stream {
	if r.key == nil {
		panic("noise: stream asked of the zero Root")
	}
	if r.kind == public && p.Private() {
		panic("noise: " + p.String() + " asked of a public root")
	}
	key, err := hkdf.Key(sha256.New, r.key[:], []byte("d3p noise v1"), p.String(), 32)
	if err != nil {
		panic("noise: " + err.Error()) // 32 bytes are below HKDF's limit of 8160
	}
	defer clear(key)
	return newStream(key)
}

// Wipe overwrites the key. Streams made before keep their own keys: Wipe those
// with Stream.Wipe. Go may have left other copies (docs/design/noise.md, "Wiping").
func (r Root) Wipe() {
	if r.key != nil {
		clear(r.key[:])
	}
}

// Format prints a fixed text for every verb: a key must not reach a log.
func (r Root) Format(f fmt.State, _ rune) { fmt.Fprint(f, "noise.Root(secret)") }
