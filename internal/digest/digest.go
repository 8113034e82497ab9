// Package digest names content by hash and size.
//
// A Digest is a comparable value that cannot hold a malformed hash, so it is checked once, where text becomes a
// Digest, and never again. The package knows hash functions; it does not know where content is kept or what it means.
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

	"github.com/zeebo/blake3"
)

// Function is a digest function, as in the Remote Execution API's DigestFunction.
type Function uint8

// The digest functions. Both give 32 bytes; a store keeps each in a namespace of its own.
const (
	BLAKE3 Function = 1 + iota // about 2 GB/s a core without SHA instructions
	SHA256                     // for remotes that know only that
)

// String returns the function's name in lower case, as it stands in paths and flags.
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
	return 0, fmt.Errorf("digest function %q is not known: use blake3 or sha256", s)
}

// New returns a hash whose Sum has 32 bytes.
func (f Function) New() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return blake3.New()
}

// Digest names a blob by its hash and its size in bytes. The zero Digest names nothing.
type Digest struct {
	hash [32]byte
	// the function in the upper byte, the size below: a build has some of them for each action, and looks most of
	// them up
	kind uint64
}

// MaxSize is the size in bytes of the largest blob that there can be a digest of.
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

// small is the size in bytes up to which content is hashed in one piece: a hasher takes twice the memory.
const small = 4<<10 + 512

// Reader returns the digest of all that r holds.
func (f Function) Reader(r io.Reader) (Digest, error) {
	first := make([]byte, small)
	k, err := io.ReadFull(r, first)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return f.Bytes(first[:k]), nil
	}
	if err != nil {
		return Digest{}, err
	}
	h := f.New()
	h.Write(first)
	n := int64(k)
	// Clearing a large buffer takes longer than hashing a small file; large files want large reads.
	buf := make([]byte, 32<<10)
	for {
		k, err := r.Read(buf)
		h.Write(buf[:k])
		n += int64(k)
		if err == io.EOF {
			return f.Sum(h, n), nil
		}
		if err != nil {
			return Digest{}, err
		}
		if k == len(buf) {
			k, err := hashRest(h, r)
			if err != nil {
				return Digest{}, err
			}
			return f.Sum(h, n+k), nil
		}
	}
}

// hashRest writes to h what r still holds and returns how much that is. What comes next is read while the last that
// came is hashed: of a large file in memory, one takes about as long as the other.
func hashRest(h hash.Hash, r io.Reader) (n int64, err error) {
	type part struct {
		b   []byte
		err error
	}
	free, parts := make(chan []byte, 2), make(chan part, 2)
	go func() { // until there is no more to read: then nobody reads r any more when hashRest returns
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

// Sum returns the digest of the n bytes that were written to h, which must come from f.New.
func (f Function) Sum(h hash.Hash, n int64) Digest {
	d := Digest{kind: kindOf(f, n)}
	h.Sum(d.hash[:0])
	return d
}

// New makes a Digest from a hash in hexadecimal (64 digits, lower case) and a size in bytes.
func New(f Function, hexHash string, size int64) (Digest, error) {
	var d Digest
	if f != BLAKE3 && f != SHA256 {
		return Digest{}, fmt.Errorf("digest %s: no digest function", hexHash)
	}
	if len(hexHash) != 64 || strings.ToLower(hexHash) != hexHash {
		return Digest{}, fmt.Errorf("digest %q: want 64 hexadecimal digits in lower case", hexHash)
	}
	if _, err := hex.Decode(d.hash[:], []byte(hexHash)); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", hexHash, err)
	}
	if size < 0 || size > MaxSize {
		return Digest{}, fmt.Errorf("digest %s: no blob has a size of %d", hexHash, size)
	}
	d.kind = kindOf(f, size)
	return d, nil
}

// FromHex is New of a hash in bytes.
func FromHex(f Function, hexHash []byte, size int64) (Digest, error) {
	d := Digest{kind: kindOf(f, size)}
	if (f != BLAKE3 && f != SHA256) || len(hexHash) != 2*len(d.hash) || size < 0 || size > MaxSize {
		return New(f, string(hexHash), size) // it says what is wrong
	}
	for i := range d.hash {
		hi, lo := nibble(hexHash[2*i]), nibble(hexHash[2*i+1])
		if hi|lo > 15 {
			return New(f, string(hexHash), size)
		}
		d.hash[i] = hi<<4 | lo
	}
	return d, nil
}

// nibble is the value of a hexadecimal digit in lower case; 255 for what is none.
func nibble(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// Parse is the inverse of Digest.String.
func Parse(s string) (Digest, error) {
	name, rest, ok := strings.Cut(s, ":")
	hexHash, sz, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		return Digest{}, fmt.Errorf("digest %q: want function:hash/size", s)
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

// Function returns the function that made the digest.
func (d Digest) Function() Function { return Function(d.kind >> 56) }

// Size returns the blob's size in bytes.
func (d Digest) Size() int64 { return int64(d.kind & MaxSize) }

// Hex returns the hash as 64 hexadecimal digits.
func (d Digest) Hex() string { return hex.EncodeToString(d.hash[:]) }

// AppendHex appends the hash as Hex spells it.
func (d Digest) AppendHex(b []byte) []byte { return hex.AppendEncode(b, d.hash[:]) }

// CompareHash compares two digests by their hashes, as bytes.Compare does.
func (d Digest) CompareHash(o Digest) int { return bytes.Compare(d.hash[:], o.hash[:]) }

// AppendHash appends the 32 bytes of the hash to b.
func (d Digest) AppendHash(b []byte) []byte { return append(b, d.hash[:]...) }

// Unsized returns the digest without the size, as a file's name tells it.
func (d Digest) Unsized() Digest {
	return d.Sized(0)
}

// Sized returns the digest with the size, which is not negative; of one beyond MaxSize it is MaxSize.
func (d Digest) Sized(size int64) Digest {
	d.kind = kindOf(d.Function(), size)
	return d
}

// IsZero tells whether d names nothing.
func (d Digest) IsZero() bool { return d.kind>>56 == 0 }

// Short returns the first 12 digits of the hash, for people.
func (d Digest) Short() string { return d.Hex()[:12] }

// String returns "function:hash/size"; Parse reads it back.
func (d Digest) String() string {
	if d.IsZero() {
		return "none"
	}
	return d.Function().String() + ":" + d.Hex() + "/" + strconv.FormatInt(d.Size(), 10)
}
