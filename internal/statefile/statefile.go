// Package statefile reads and writes the files in which hexmage remembers something from one run to the next.
//
// A file is a first line that says what it holds and in which version, and blocks, each with its length and a checksum over
// itself and all before it. So a file that is damaged, cut off, of another kind or of another version is never taken for
// what it is not. Write replaces a file as a whole; Append adds a block to what was read, which is cheaper where little
// changed; a Writer adds blocks to a new file as they come, so that a killed process leaves what it had written. Encoder and
// Decoder are for what is in a block.
//
// What is remembered is a shortcut: who cannot read a file goes on as if there were none. The package does not know what is
// in a block, who else has a file open, or where files are.
package statefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
)

// Kind says what files hold.
type Kind struct {
	Name    string // one word
	Version int    // of what is in the blocks
	Max     int64  // bytes of a file: a larger one is neither written nor read
	Shared  bool   // other users of the machine may read it
}

// ErrDamaged is what reading returns, wrapped, for a file that is not as this version of hexmage wrote it.
var ErrDamaged = errors.New("damaged, or of another version of hexmage")

// ErrNoRoom is what adding a block returns, wrapped, to a file that it does not fit into.
var ErrNoRoom = errors.New("there is no room for more")

const (
	headSize = 4 // of a block: its length
	sumSize  = 32

	// maxAdded bounds what Append adds, as a part of the file: 1/maxAdded of what was written at once.
	maxAdded = 16
	// inOnePiece is how large a block is, in bytes, that is copied to be written with its length and checksum at once.
	inOnePiece = 128 << 10
	// staleTemp is how old a temporary file of a dead process is before it is removed, and tempPrefix begins its name.
	staleTemp  = time.Hour
	tempPrefix = "new"
)

// header is the first line of a file.
func (k Kind) header() []byte {
	return []byte("hexmage " + k.Name + " state " + strconv.Itoa(k.Version) + "\n")
}

// chained is the checksum of a block that follows what has the checksum before.
func chained(before [sumSize]byte, parts ...[]byte) (sum [sumSize]byte) {
	h := blake3.New()
	for _, p := range parts {
		h.Write(p) // before the rest, as the hasher copies what is not aligned
	}
	h.Write(before[:])
	h.Sum(sum[:0])
	return sum
}

// File is what was read of a file.
type File struct {
	Blocks [][]byte // parts of one piece of memory

	kind  Kind
	sum   [sumSize]byte // of the last block
	first int64         // bytes up to the end of the first block
	size  int64
}

// Read reads a file. With ErrDamaged it returns what stands before the damage, nil if that is nothing.
func Read(path string, k Kind) (*File, error) {
	b, err := boundedfile.Read(path, k.Max)
	if large := (*boundedfile.LargeError)(nil); errors.As(err, &large) {
		return nil, fmt.Errorf("%s is %w", path, ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	file, err := Parse(b, k)
	if err != nil {
		err = fmt.Errorf("%s is %w", path, err)
	}
	return file, err
}

// Parse is Read of what a file holds. The File keeps b.
func Parse(b []byte, k Kind) (*File, error) {
	rest, ok := bytes.CutPrefix(b, k.header())
	if !ok || int64(len(b)) > k.Max {
		return nil, ErrDamaged
	}
	f := &File{kind: k, sum: blake3.Sum256(k.header()), size: int64(len(b) - len(rest))}
	for len(rest) > 0 {
		if len(rest) < headSize+sumSize {
			return f.until(ErrDamaged)
		}
		n := int64(binary.LittleEndian.Uint32(rest))
		if n > int64(len(rest)-headSize-sumSize) {
			return f.until(ErrDamaged)
		}
		block := rest[headSize : headSize+n : headSize+n]
		sum := chained(f.sum, block)
		if rest = rest[headSize+n:]; sum != [sumSize]byte(rest[:sumSize]) {
			return f.until(ErrDamaged)
		}
		rest = rest[sumSize:]
		f.add(block, sum)
	}
	if len(f.Blocks) == 0 {
		return nil, ErrDamaged
	}
	return f, nil
}

func (f *File) until(err error) (*File, error) {
	if len(f.Blocks) == 0 {
		return nil, err
	}
	return f, err
}

// add notes that a block follows.
func (f *File) add(block []byte, sum [sumSize]byte) {
	f.Blocks = append(f.Blocks, block)
	f.size += int64(headSize + len(block) + sumSize)
	f.sum = sum
	if len(f.Blocks) == 1 {
		f.first = f.size
	}
}

// ID names what the file holds. It is not the digest of anything.
func (f *File) ID() digest.Digest { return id(f.sum, f.size) }

func id(sum [sumSize]byte, size int64) digest.Digest {
	d, _ := digest.FromHash(digest.BLAKE3, sum[:], size)
	return d
}

// ReadID returns the ID of what the file at path holds, if it is not damaged, without reading all of it.
func ReadID(path string) (digest.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return digest.Digest{}, err
	}
	var sum [sumSize]byte
	if _, err := f.ReadAt(sum[:], st.Size()-sumSize); err != nil {
		return digest.Digest{}, fmt.Errorf("%s is %w: %w", path, ErrDamaged, err)
	}
	return id(sum, st.Size()), nil
}

// framed returns a block that is in parts with its length before it and the checksum behind it.
func framed(sum [sumSize]byte, parts ...[]byte) [][]byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	return slices.Concat([][]byte{binary.LittleEndian.AppendUint32(nil, uint32(size))}, parts, [][]byte{sum[:]})
}

// Append adds a block to the file at path, from where f was read. It returns ErrNoRoom where the file had better be written as a
// whole: as it has grown by much already, or as it is another one by now.
func (f *File) Append(path string, block []byte) error {
	added := int64(headSize + len(block) + sumSize)
	if f.size-f.first+added > f.first/maxAdded || f.size+added > f.kind.Max {
		return fmt.Errorf("add to %s: %w", path, ErrNoRoom)
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	st, err := to.Stat()
	if err != nil {
		return err
	}
	if st.Size() != f.size {
		return fmt.Errorf("add to %s: it has changed: %w", path, ErrNoRoom)
	}
	sum := chained(f.sum, block)
	if n, err := to.Write(slices.Concat(framed(sum, block)...)); err != nil {
		if n > 0 {
			_ = to.Truncate(f.size) // else it counts as damaged
		}
		return fmt.Errorf("add to %s: %w", path, err)
	}
	f.add(block, sum)
	return nil
}

// Write makes the file at path hold the blocks, in place of what it held. It does not sync: a file that a crash of the machine
// damaged counts as none.
func Write(path string, k Kind, blocks ...[]byte) error {
	return replace(path, k, adding(blocks), atomicfile.Place)
}

// WriteParts is Write of one block, which need not be in one piece.
func WriteParts(path string, k Kind, parts [][]byte) error {
	return replace(path, k, func(w *Writer) error { return w.Add(parts...) }, atomicfile.Place)
}

func adding(blocks [][]byte) func(*Writer) error {
	return func(w *Writer) error {
		for _, b := range blocks {
			if err := w.Add(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// Commit is Write of what is to survive a crash of the machine.
func Commit(path string, k Kind, blocks ...[]byte) error {
	return replace(path, k, adding(blocks), atomicfile.Commit)
}

func replace(path string, k Kind, add func(*Writer) error, place func(*os.File, string, os.FileMode) error) error {
	dir := filepath.Dir(path)
	perm, dirPerm := os.FileMode(0o600), os.FileMode(0o700)
	if k.Shared {
		perm, dirPerm = 0o644, 0o755
	}
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return fmt.Errorf("remember the %s: %w", k.Name, err)
	}
	_ = atomicfile.SweepNamed(dir, tempPrefix, staleTemp) // what killed processes left; it does no harm
	tmp, err := atomicfile.Temp(dir, tempPrefix)
	if err != nil {
		return fmt.Errorf("remember the %s: %w", k.Name, err)
	}
	if err := add(&Writer{f: tmp, kind: k}); err != nil {
		tmp.Close()
		os.Remove(tmp.Name())
		return fmt.Errorf("remember the %s: %w", k.Name, err)
	}
	return place(tmp, path, perm)
}

// Encode returns what a file with the blocks holds.
func Encode(k Kind, blocks ...[]byte) []byte {
	var b bytes.Buffer
	w := Writer{f: &b, kind: k}
	for _, block := range blocks {
		_ = w.Add(block)
	}
	return b.Bytes()
}

// Writer writes a file block by block.
type Writer struct {
	f    io.Writer
	kind Kind
	sum  [sumSize]byte
	size int64
}

// Create makes a new file at path, which must not exist, in a folder that does.
func Create(path string, k Kind) (*Writer, error) {
	perm := os.FileMode(0o600)
	if k.Shared {
		perm = 0o644
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return nil, err
	}
	return &Writer{f: f, kind: k}, nil
}

// Add writes a block, which may be in parts. After an error no other may follow.
func (w *Writer) Add(parts ...[]byte) error {
	var head []byte
	if w.size == 0 {
		head = w.kind.header()
		w.sum = blake3.Sum256(head)
	}
	sum := chained(w.sum, parts...)
	all := append([][]byte{head}, framed(sum, parts...)...)
	size := 0
	for _, p := range all {
		size += len(p)
	}
	if w.size += int64(size); w.size > w.kind.Max {
		return ErrNoRoom
	}
	w.sum = sum
	if size <= inOnePiece {
		all = [][]byte{slices.Concat(all...)}
	}
	for _, p := range all {
		if _, err := w.f.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the file.
func (w *Writer) Close() error {
	if c, ok := w.f.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
