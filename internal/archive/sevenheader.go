package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// A 7z file begins with a header of 32 bytes that says where the real one is: at the end, and mostly compressed itself. There,
// numbers are of variable length, and lists come after their length.
const (
	sevenStart      = 32
	maxSevenHeader  = 64 << 20
	maxDictionary   = 256 << 20
	maxSevenStreams = 64 // coders of a folder, streams of a coder

	sevenEnd          = 0
	sevenHeaderID     = 1
	sevenMainStreams  = 4
	sevenFiles        = 5
	sevenPackInfo     = 6
	sevenUnpackInfo   = 7
	sevenSubStreams   = 8
	sevenSize         = 9
	sevenCRC          = 10
	sevenFolder       = 11
	sevenUnpackSize   = 12
	sevenCount        = 13
	sevenEncodedID    = 23
	sevenLZMA         = "\x03\x01\x01"
	sevenLZMA2        = "\x21"
	sevenAES          = "\x06\xf1\x07\x01"
	sevenHasProps     = 0x20
	sevenComplex      = 0x10
	sevenMoreCoderIDs = 0x80
)

// sevenMethods are those whose decompressors take no more memory than their properties say.
var sevenMethods = map[string]bool{"\x00": true, "\x03": true, sevenLZMA: true, sevenLZMA2: true, "\x03\x03\x01\x03": true, "\x03\x03\x01\x1b": true,
	"\x03\x03\x02\x05": true, "\x03\x03\x05\x01": true, "\x03\x03\x08\x05": true, "\x04\x01\x08": true, "\x04\x02\x02": true}

// checkSeven reads the headers of a 7z file and refuses numbers that are not true: lists longer than the header, dictionaries
// of gigabytes.
func checkSeven(r io.ReaderAt, size int64, maxEntries int) error {
	var start [sevenStart]byte
	if size < sevenStart {
		return fmt.Errorf("%w: a 7z file of %d bytes", ErrTruncated, size)
	}
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return err
	}
	le := binary.LittleEndian
	at, n := le.Uint64(start[12:]), le.Uint64(start[20:])
	if crc32.ChecksumIEEE(start[12:]) != le.Uint32(start[8:]) || n > maxSevenHeader || at > uint64(size-sevenStart) || n > uint64(size-sevenStart)-at {
		return fmt.Errorf("%w: its header is not where the first bytes say", ErrTruncated)
	}
	if n == 0 {
		return nil // nothing in it
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, sevenStart+int64(at)); err != nil && err != io.EOF {
		return err
	}
	if crc32.ChecksumIEEE(b) != le.Uint32(start[28:]) {
		return fmt.Errorf("%w: its header's checksum is wrong", ErrTruncated)
	}
	h := &sevenReader{b: b, maxEntries: uint64(maxEntries)}
	switch h.byte() {
	case sevenHeaderID:
		h.header()
	case sevenEncodedID:
		s := h.streams()
		if h.err != nil {
			return h.err
		}
		inner, err := s.decode(r, size)
		if err != nil {
			return err
		}
		h = &sevenReader{b: inner, maxEntries: uint64(maxEntries)}
		if h.byte() != sevenHeaderID {
			return fmt.Errorf("%w: its compressed header is none", ErrTruncated)
		}
		h.header()
	default:
		return fmt.Errorf("%w: its header is none", ErrTruncated)
	}
	return h.err
}

// sevenStreams is what has to be known of the streams to decompress a header.
type sevenStreams struct {
	at, packed uint64 // of the first stream
	coders     int
	method     string // of the first folder's first coder
	props      []byte
	size       uint64 // of what it gives
}

// decode decompresses a header.
func (s sevenStreams) decode(r io.ReaderAt, size int64) ([]byte, error) {
	if s.coders != 1 || s.method != sevenLZMA || len(s.props) != 5 {
		return nil, fmt.Errorf("%w: a 7z file whose header is compressed in an unusual way", ErrFormat)
	}
	if s.size > maxSevenHeader || s.at > uint64(size-sevenStart) || s.packed > uint64(size-sevenStart)-s.at {
		return nil, fmt.Errorf("%w: its compressed header is not within the file, or too large", ErrTruncated)
	}
	head := binary.LittleEndian.AppendUint64(bytes.Clone(s.props), s.size)
	in, err := lzma.NewReader(io.MultiReader(bytes.NewReader(head), io.NewSectionReader(r, sevenStart+int64(s.at), int64(s.packed))))
	if err != nil {
		return nil, damaged(err)
	}
	b := make([]byte, s.size)
	_, err = io.ReadFull(in, b)
	return b, damaged(err)
}

// sevenReader reads a header; after the first error it reads zeros.
type sevenReader struct {
	b          []byte
	maxEntries uint64
	err        error
}

func (h *sevenReader) fail(kind error, format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
	}
	h.b = nil
}

func (h *sevenReader) bytes(n uint64) []byte {
	if n > uint64(len(h.b)) {
		h.fail(ErrTruncated, "its header ends early")
		return nil
	}
	b := h.b[:n]
	h.b = h.b[n:]
	return b
}

func (h *sevenReader) byte() byte {
	if b := h.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads a number: the bits set at the top of its first byte are how many bytes follow.
func (h *sevenReader) number() uint64 {
	first := h.byte()
	var v uint64
	for i := range 8 {
		if first&(0x80>>i) == 0 {
			return v | uint64(first&(0x80>>i-1))<<(8*i)
		}
		v |= uint64(h.byte()) << (8 * i)
	}
	return v
}

// count reads how long a list is of which each element takes at least one byte in the header.
func (h *sevenReader) count(what string) uint64 {
	n := h.number()
	if n > uint64(len(h.b)) {
		h.fail(ErrTruncated, "its header can't have %d %s", n, what)
		return 0
	}
	return n
}

// few reads a number that is small in every real file.
func (h *sevenReader) few(what string) int {
	n := h.number()
	if n > maxSevenStreams {
		h.fail(ErrUnsafe, "a folder with %d %s", n, what)
		return 0
	}
	return int(n)
}

func (h *sevenReader) checksums(n uint64) {
	if h.byte() == 0 {
		bits := h.bytes((n + 7) / 8)
		n = 0
		for _, b := range bits {
			for ; b > 0; b &= b - 1 {
				n++
			}
		}
	}
	h.bytes(4 * n)
}

func (h *sevenReader) header() {
	id := h.byte()
	if id == sevenMainStreams {
		h.streams()
		id = h.byte()
	}
	if id == sevenFiles {
		n := h.number()
		if n > h.maxEntries {
			h.fail(ErrTooLarge, "more than %d entries", h.maxEntries)
		} else if n > uint64(len(h.b)) {
			h.fail(ErrTruncated, "its header can't have %d entries", n)
		}
		for h.err == nil && h.byte() != sevenEnd {
			h.bytes(h.number())
		}
		id = h.byte()
	}
	if id != sevenEnd {
		h.fail(ErrFormat, "a 7z file with something unknown in its header (%d)", id)
	}
}

func (h *sevenReader) streams() (s sevenStreams) {
	var outputs []int
	id := h.byte()
	if id == sevenPackInfo {
		s.at = h.number()
		n := h.count("streams")
		id = h.byte()
		if id == sevenSize {
			for i := range n {
				if size := h.number(); i == 0 {
					s.packed = size
				}
			}
			id = h.byte()
		}
		if id == sevenCRC {
			h.checksums(n)
			id = h.byte()
		}
		if id != sevenEnd {
			h.fail(ErrTruncated, "its list of streams does not end")
		}
		id = h.byte()
	}
	if id == sevenUnpackInfo {
		outputs = h.folders(&s)
		id = h.byte()
	}
	if id == sevenSubStreams {
		h.subStreams(len(outputs))
		id = h.byte()
	}
	if id != sevenEnd {
		h.fail(ErrTruncated, "its streams' description does not end")
	}
	return s
}

// folders reads how streams are decompressed; it returns how many outputs each folder has.
func (h *sevenReader) folders(s *sevenStreams) (outputs []int) {
	if h.byte() != sevenFolder {
		h.fail(ErrTruncated, "no folders where they should be")
	}
	n := h.count("folders")
	if h.byte() != 0 {
		h.fail(ErrFormat, "a 7z file with folders elsewhere")
	}
	for i := uint64(0); i < n && h.err == nil; i++ {
		outputs = append(outputs, h.folder(s, i == 0))
	}
	if h.byte() != sevenUnpackSize {
		h.fail(ErrTruncated, "no sizes where they should be")
	}
	for i, k := range outputs {
		for range k {
			if size := h.number(); i == 0 {
				s.size = size
			}
		}
	}
	id := h.byte()
	if id == sevenCRC {
		h.checksums(n)
		id = h.byte()
	}
	if id != sevenEnd {
		h.fail(ErrTruncated, "its list of folders does not end")
	}
	return outputs
}

func (h *sevenReader) folder(s *sevenStreams, first bool) (outputs int) {
	inputs, coders := 0, h.few("coders")
	for i := range coders {
		flags := h.byte()
		method := string(h.bytes(uint64(flags & 15)))
		in, out := 1, 1
		if flags&sevenComplex != 0 {
			in, out = h.few("inputs"), h.few("outputs")
		}
		var props []byte
		if flags&sevenHasProps != 0 {
			props = h.bytes(h.count("properties"))
		}
		if flags&sevenMoreCoderIDs != 0 {
			h.fail(ErrFormat, "a 7z file with alternative methods")
		}
		h.coder(method, props)
		inputs, outputs = inputs+in, outputs+out
		if first && i == 0 {
			s.coders, s.method, s.props = coders, method, props
		}
	}
	if h.err == nil && (outputs < 1 || inputs < outputs) {
		h.fail(ErrUnsafe, "a folder with %d inputs and %d outputs", inputs, outputs)
		return 0
	}
	for range outputs - 1 {
		h.number()
		h.number()
	}
	if packed := inputs - (outputs - 1); packed > 1 {
		for range packed {
			h.number()
		}
	}
	return outputs
}

func (h *sevenReader) coder(method string, props []byte) {
	switch {
	case h.err != nil:
	case method == sevenAES:
		h.fail(ErrFormat, "it is encrypted")
	case !sevenMethods[method]:
		h.fail(ErrFormat, "a 7z file compressed by method %x", method)
	case method == sevenLZMA && (len(props) != 5 || binary.LittleEndian.Uint32(props[1:]) > maxDictionary),
		method == sevenLZMA2 && (len(props) != 1 || props[0] > 32): // 32 stands for 256 MiB
		h.fail(ErrTooLarge, "it needs a dictionary of more than %d bytes", maxDictionary)
	}
}

func (h *sevenReader) subStreams(folders int) {
	counts := make([]uint64, folders)
	files := uint64(0)
	id := h.byte()
	for i := range counts {
		counts[i] = 1
		if id == sevenCount {
			counts[i] = h.number()
		}
		if files += counts[i]; counts[i] > h.maxEntries || files > h.maxEntries {
			h.fail(ErrTooLarge, "more than %d entries", h.maxEntries)
			return
		}
	}
	if id == sevenCount {
		id = h.byte()
	}
	if id == sevenSize {
		for _, n := range counts {
			if n == 0 { // the library counts on one
				h.fail(ErrFormat, "a 7z file with an empty folder")
			}
			for i := uint64(1); i < n && h.err == nil; i++ {
				h.number()
			}
		}
		id = h.byte()
	}
	if id == sevenCRC {
		h.checksums(files)
		id = h.byte()
	}
	if id != sevenEnd {
		h.fail(ErrTruncated, "its list of files does not end")
	}
}
