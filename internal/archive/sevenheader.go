package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/ulikunitz/xz/lzma"
)

// The library that reads 7z files makes each list as long as the header says, and each dictionary as large, before it
// reads on: a file of 168 bytes ends the whole process, out of memory, and nobody is asked
// (docs/design/0005-archives.md). So the numbers of a header are looked at first. Whatever else is wrong with it, the
// library finds.
//
// A 7z file begins with 32 bytes that say where its header is: at the end, and mostly compressed itself. In it
// numbers have a variable length, and lists come after theirs.
const (
	sevenStart     = 32
	maxSevenHeader = 64 << 20
	maxDictionary  = 256 << 20
	maxSevenCoders = 64 // of a folder, which is what 7z calls files that are packed together; and streams of a coder

	sevenEnd         = 0
	sevenHeaderMark  = 1
	sevenMainStreams = 4
	sevenFiles       = 5
	sevenPackInfo    = 6
	sevenUnpackInfo  = 7
	sevenSubStreams  = 8
	sevenSize        = 9
	sevenChecksums   = 10
	sevenFolder      = 11
	sevenUnpackSize  = 12
	sevenCount       = 13
	sevenEncoded     = 23

	sevenLZMA  = "\x03\x01\x01"
	sevenLZMA2 = "\x21"
	sevenAES   = "\x06\xf1\x07\x01"
)

// sevenMethods are those whose decompressors take no more memory than their properties say.
var sevenMethods = map[string]bool{"\x00": true, "\x03": true, sevenLZMA: true, sevenLZMA2: true, "\x03\x03\x01\x03": true, "\x03\x03\x01\x1b": true,
	"\x03\x03\x02\x05": true, "\x03\x03\x05\x01": true, "\x03\x03\x08\x05": true, "\x04\x01\x08": true, "\x04\x02\x02": true}

// checkSeven reads the header of a 7z file and refuses numbers that can't be true, or that nobody needs.
func checkSeven(r io.ReaderAt, size int64, maxEntries int) error {
	var start [sevenStart]byte
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return damaged(err)
	}
	le := binary.LittleEndian
	b, err := section(r, size, le.Uint64(start[12:]), le.Uint64(start[20:]))
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(start[12:]) != le.Uint32(start[8:]) || crc32.ChecksumIEEE(b) != le.Uint32(start[28:]) {
		return fmt.Errorf("%w: its header's checksum is wrong", ErrTruncated)
	}
	if len(b) == 0 {
		return fmt.Errorf("%w: there is nothing in it", ErrTruncated)
	}
	h := &sevenHeader{b: b, maxEntries: uint64(maxEntries)}
	if h.next(sevenEncoded) {
		h.streams()
		h.decode(r, size)
	}
	h.header()
	return h.err
}

// section reads n bytes at the place, counted from the first bytes' end.
func section(r io.ReaderAt, size int64, at, n uint64) ([]byte, error) {
	if rest := uint64(size - sevenStart); n > maxSevenHeader || at > rest || n > rest-at {
		return nil, fmt.Errorf("%w: its header is not within the file, or too large", ErrTruncated)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(r, sevenStart+int64(at), int64(n)), b)
	return b, damaged(err)
}

// sevenHeader reads a header; after the first error it reads zeros.
type sevenHeader struct {
	b          []byte
	maxEntries uint64
	err        error

	// Of the first stream and the first folder: how a compressed header is decompressed.
	at, packed, size uint64
	coders           int
	method           string
	props            []byte
}

func (h *sevenHeader) must(ok bool, kind error, format string, args ...any) {
	if !ok && h.err == nil {
		h.err = fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
		h.b = nil
	}
}

// next takes the byte id, if it comes next.
func (h *sevenHeader) next(id byte) bool {
	if len(h.b) == 0 || h.b[0] != id {
		return false
	}
	h.b = h.b[1:]
	return true
}

func (h *sevenHeader) want(id byte) { h.must(h.next(id), ErrTruncated, "its header is damaged") }

func (h *sevenHeader) bytes(n uint64) []byte {
	if h.must(n <= uint64(len(h.b)), ErrTruncated, "its header ends early"); h.err != nil {
		return nil
	}
	b := h.b[:n]
	h.b = h.b[n:]
	return b
}

func (h *sevenHeader) byte() byte {
	if b := h.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads a number: the bits set at the top of its first byte are how many bytes follow.
func (h *sevenHeader) number() uint64 {
	first := h.byte()
	n := bits.LeadingZeros8(^first)
	var v uint64
	for i, b := range h.bytes(uint64(n)) {
		v |= uint64(b) << (8 * i)
	}
	if n < 7 {
		v |= uint64(first&(0x7f>>n)) << (8 * n)
	}
	return v
}

// count reads how long a list is of which each element takes at least one byte in the header.
func (h *sevenHeader) count(limit int, what string) int {
	n := h.number()
	if h.must(n <= uint64(min(limit, len(h.b))), ErrTruncated, "its header can't have %d %s", n, what); h.err != nil {
		return 0
	}
	return int(n)
}

// sizes reads n numbers and returns the first.
func (h *sevenHeader) sizes(n int) (first uint64) {
	for i := range n {
		if v := h.number(); i == 0 {
			first = v
		}
	}
	return first
}

func (h *sevenHeader) checksums(n uint64) {
	if !h.next(sevenChecksums) {
		return
	}
	if h.byte() == 0 { // not all have one
		told := h.bytes((n + 7) / 8)
		n = 0
		for _, b := range told {
			n += uint64(bits.OnesCount8(b))
		}
	}
	h.bytes(4 * n)
}

func (h *sevenHeader) header() {
	h.want(sevenHeaderMark)
	if h.next(sevenMainStreams) {
		h.streams()
	}
	if h.next(sevenFiles) {
		n := h.number()
		h.must(n <= h.maxEntries, ErrTooLarge, "more than %d entries", h.maxEntries)
		h.must(n <= uint64(len(h.b)), ErrTruncated, "its header can't have %d entries", n)
		for h.err == nil && !h.next(sevenEnd) {
			h.byte() // which property of the files
			h.bytes(h.number())
		}
	}
	h.want(sevenEnd)
}

func (h *sevenHeader) streams() {
	if h.next(sevenPackInfo) {
		h.at = h.number()
		n := h.count(maxSevenHeader, "streams")
		if h.next(sevenSize) {
			h.packed = h.sizes(n)
		}
		h.checksums(uint64(n))
		h.want(sevenEnd)
	}
	folders := 0
	if h.next(sevenUnpackInfo) {
		folders = h.folders()
	}
	if h.next(sevenSubStreams) {
		h.subStreams(folders)
	}
	h.want(sevenEnd)
}

// folders reads how streams are decompressed.
func (h *sevenHeader) folders() int {
	h.want(sevenFolder)
	n := h.count(maxSevenHeader, "folders")
	h.want(0) // they are here, and not elsewhere
	var outputs []int
	for i := 0; i < n && h.err == nil; i++ {
		outputs = append(outputs, h.folder(i == 0))
	}
	h.want(sevenUnpackSize)
	for i, k := range outputs {
		if size := h.sizes(k); i == 0 {
			h.size = size
		}
	}
	h.checksums(uint64(n))
	h.want(sevenEnd)
	return len(outputs)
}

func (h *sevenHeader) folder(first bool) (outputs int) {
	inputs, coders := 0, h.count(maxSevenCoders, "coders")
	for i := range coders {
		flags := h.byte()
		method := string(h.bytes(uint64(flags & 15)))
		in, out := 1, 1
		if flags&0x10 != 0 {
			in, out = h.count(maxSevenCoders, "inputs"), h.count(maxSevenCoders, "outputs")
		}
		var props []byte
		if flags&0x20 != 0 {
			props = h.bytes(h.number())
		}
		h.coder(method, props)
		inputs, outputs = inputs+in, outputs+out
		if first && i == 0 {
			h.coders, h.method, h.props = coders, method, props
		}
	}
	if h.must(outputs > 0 && inputs >= outputs, ErrUnsafe, "a folder with %d inputs and %d outputs", inputs, outputs); h.err != nil {
		return 0
	}
	h.sizes(2 * (outputs - 1)) // which output is which input
	if packed := inputs - (outputs - 1); packed > 1 {
		h.sizes(packed)
	}
	return outputs
}

func (h *sevenHeader) coder(method string, props []byte) {
	h.must(method != sevenAES, ErrFormat, "it is encrypted")
	h.must(sevenMethods[method], ErrFormat, "a 7z file compressed by method %x", method)
	fits := true
	switch method {
	case sevenLZMA:
		fits = len(props) == 5 && binary.LittleEndian.Uint32(props[1:]) <= maxDictionary
	case sevenLZMA2:
		fits = len(props) == 1 && props[0] <= 32 // which stands for 256 MiB
	}
	h.must(fits, ErrTooLarge, "it needs a dictionary of more than %d bytes", maxDictionary)
}

func (h *sevenHeader) subStreams(folders int) {
	counts, files := make([]uint64, folders), uint64(0)
	told := h.next(sevenCount)
	for i := range counts {
		if counts[i] = 1; told {
			counts[i] = h.number()
		}
		h.must(counts[i] <= h.maxEntries-files, ErrTooLarge, "more than %d entries", h.maxEntries)
		files += counts[i]
	}
	if h.err == nil && h.next(sevenSize) {
		for _, n := range counts {
			h.must(n > 0, ErrFormat, "a 7z file with an empty folder") // the library counts on one
			for i := uint64(1); i < n && h.err == nil; i++ {
				h.number()
			}
		}
	}
	h.checksums(files)
	h.want(sevenEnd)
}

// decode puts a decompressed header in the place of the description of how to do that.
func (h *sevenHeader) decode(r io.ReaderAt, size int64) {
	h.must(h.coders == 1 && h.method == sevenLZMA, ErrFormat, "a 7z file whose header is compressed in an unusual way")
	h.must(h.size <= maxSevenHeader, ErrTruncated, "its header is not within the file, or too large")
	if h.err != nil {
		return
	}
	packed, err := section(r, size, h.at, h.packed)
	if err == nil {
		head := binary.LittleEndian.AppendUint64(bytes.Clone(h.props), h.size)
		var in io.Reader
		if in, err = lzma.NewReader(io.MultiReader(bytes.NewReader(head), bytes.NewReader(packed))); err == nil {
			h.b = make([]byte, h.size)
			_, err = io.ReadFull(in, h.b)
		}
	}
	if err != nil {
		h.b, h.err = nil, damaged(err)
	}
}
