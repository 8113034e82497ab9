// Package digest identifies content by its hash and size.
//
// A Digest is a comparable value. It is always valid, because the parsing functions check their input. The package
// knows hash functions; it does not know where content is stored.
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/blake3"
)

// Function is a hash function, such as SHA-256. It corresponds to DigestFunction in the Remote Execution API.
type Function uint8

// The digest functions, which return 32 bytes. A store keeps a separate namespace for the digests of each function.
const (
	BLAKE3 Function = 1 + iota // about 2 GB/s per core without SHA instructions
	SHA256                     // for remotes that support only SHA-256
)

// String returns the function's name in lower case, as paths and flags use it.
func (f Function) String() string {
	switch f {
	case BLAKE3:
		return "blake3"
	case SHA256:
		return "sha256"
	}
	return "none"
}

// ParseFunction is the inverse of Function.String.
func ParseFunction(s string) (Function, error) {
	switch s {
	case "blake3":
		return BLAKE3, nil
	case "sha256":
		return SHA256, nil
	}
	return 0, fmt.Errorf("unknown digest function %q; use blake3 or sha256", s)
}

// New returns a new hash.Hash for the function. The hash has 32 bytes.
func (f Function) New() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return blake3.New()
}

// Digest identifies a blob by the hash and the size in bytes. The zero Digest does not identify any blob.
type Digest struct {
	hash [32]byte
	// the function in the upper byte, the size below: a build has some of them for each action, and looks most of
	// them up
	kind uint64
}

// MaxSize is the size in bytes of the largest blob that can have a Digest.
const MaxSize = 1<<56 - 1

func kindOf(f Function, size int64) uint64 { return uint64(f)<<56 | uint64(min(size, MaxSize)) }

// Bytes returns the digest of b.
func (f Function) Bytes(b []byte) Digest {
	d := Digest{kind: kindOf(f, int64(len(b)))}
	if f == SHA256 {
		d.hash = sha256.Sum256(b)
	} else {
		d.hash = blake3.Sum256(b)
	}
	return d
}

// Reader reads r to the end and returns the digest of the content.
func (f Function) Reader(r io.Reader) (Digest, error) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	first := buffer[:]
	k, err := io.ReadFull(r, first)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return f.Bytes(first[:k]), nil
	}
	if err != nil {
		return Digest{}, err
	}
	h := f.New()
	h.Write(first)
	n, err := hashRest(h, r)
	if err != nil {
		return Digest{}, err
	}
	return f.Sum(h, int64(k)+n), nil
}

// buffers are reused: clearing a new one takes longer than hashing a small file.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// hashRest writes the rest of r to h and returns its size. It reads the next part while it hashes the last one: for a
// large file in the page cache, both take about the same time.
func hashRest(h hash.Hash, r io.Reader) (n int64, err error) {
	type part struct {
		b   []byte
		err error
	}
	free, parts := make(chan []byte, 2), make(chan part, 2)
	go func() { // it reads to the end, so that r is idle when hashRest returns
		for b := range free {
			k, err := r.Read(b)
			parts <- part{b[:k], err}
			if err != nil {
				return
			}
		}
	}()
	free <- make([]byte, 256<<10)
	free <- make([]byte, 256<<10)
	for p := range parts {
		h.Write(p.b)
		n += int64(len(p.b))
		if p.err == io.EOF {
			return n, nil
		}
		if p.err != nil {
			return n, p.err
		}
		free <- p.b[:cap(p.b)]
	}
	return n, nil
}

// Sum returns the digest of the n bytes that the caller wrote to h. The hash h must be the result of f.New.
func (f Function) Sum(h hash.Hash, n int64) Digest {
	d := Digest{kind: kindOf(f, n)}
	h.Sum(d.hash[:0])
	return d
}

// New returns a Digest from a hash of 64 lower-case hexadecimal digits and a size in bytes.
func New(f Function, hexHash string, size int64) (Digest, error) {
	var d Digest
	if f != BLAKE3 && f != SHA256 {
		return Digest{}, fmt.Errorf("digest %s: missing digest function", hexHash)
	}
	if len(hexHash) != 64 || strings.ToLower(hexHash) != hexHash {
		return Digest{}, fmt.Errorf("digest %q: not 64 hexadecimal digits in lower case", hexHash)
	}
	if _, err := hex.Decode(d.hash[:], []byte(hexHash)); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", hexHash, err)
	}
	if size < 0 || size > MaxSize {
		return Digest{}, fmt.Errorf("digest %s: invalid size %d", hexHash, size)
	}
	d.kind = kindOf(f, size)
	return d, nil
}

// Parse is the inverse of Digest.String.
func Parse(s string) (Digest, error) {
	name, rest, ok := strings.Cut(s, ":")
	hexHash, sz, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		return Digest{}, fmt.Errorf("digest %q: invalid format; write FUNCTION:HASH/SIZE", s)
	}
	f, err := ParseFunction(name)
	if err != nil {
		return Digest{}, err
	}
	size, err := strconv.ParseInt(sz, 10, 64)
	if err != nil {
		return Digest{}, fmt.Errorf("digest %q: size: %w", s, err)
	}
	return New(f, hexHash, size)
}

// Function returns the hash function of the digest.
func (d Digest) Function() Function { return Function(d.kind >> 56) }

// Size returns the size of the blob in bytes.
func (d Digest) Size() int64 { return int64(d.kind & MaxSize) }

// Hex returns the hash as 64 hexadecimal digits.
func (d Digest) Hex() string { return hex.EncodeToString(d.hash[:]) }

// CompareHash compares the hashes of two digests as bytes.Compare does.
func (d Digest) CompareHash(o Digest) int { return bytes.Compare(d.hash[:], o.hash[:]) }

// AppendHash appends the 32 bytes of the hash to b.
func (d Digest) AppendHash(b []byte) []byte { return append(b, d.hash[:]...) }

// Unsized returns the digest with an unknown size, for a hash that comes from a file name.
func (d Digest) Unsized() Digest {
	return d.Sized(0)
}

// Sized returns the digest with the given size, which must not be negative. If the size is larger than MaxSize, the
// result has MaxSize.
func (d Digest) Sized(size int64) Digest {
	d.kind = kindOf(d.Function(), size)
	return d
}

// IsZero reports whether d is the zero Digest.
func (d Digest) IsZero() bool { return d.kind>>56 == 0 }

// Short returns the first 12 hexadecimal digits of the hash, for output to users.
func (d Digest) Short() string { return d.Hex()[:12] }

// String returns "function:hash/size", the format that Parse reads.
func (d Digest) String() string {
	if d.IsZero() {
		return "none"
	}
	return d.Function().String() + ":" + d.Hex() + "/" + strconv.FormatInt(d.Size(), 10)
}
