package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// inflater decompresses deflate (RFC 1951). It takes half the time of the general-purpose readers there are for Go, because it
// reads bits eight bytes at a time, from a buffer of its own that always has some bytes to spare, and writes matches in words
// to another one that always has room for them; what is left to check for each symbol is then little. Its tables are those of
// huffman.go.
//
// Reading past the end of the input gives zeros, which are noticed at the next refill or at the end of the stream.
type inflater struct {
	r     io.Reader
	eof   bool
	in    []byte
	pos   int // next byte of in to take bits from
	end   int // of what was read
	limit int // while pos is not beyond, in has enough bytes

	bits uint64 // bits taken and not used, the next one lowest; those above nbits are right, but not yet taken
	n    uint   // how many

	out  []byte
	o    int // end of what is decompressed; before it there are windowSize bytes, or all there ever were
	full int // where o is when there is no more room
	told int // end of what Read has returned

	state  inflateState
	last   bool // no block after this one
	stored int  // bytes that are left of a stored block
	lit    litTable
	dist   distTable
	err    error
}

type inflateState int

const (
	atBlock inflateState = iota // a block's header is next
	inStored
	inCodes
	atEnd
)

const (
	windowSize = 32 << 10
	outSize    = windowSize + 128<<10
	outSlack   = 258 + 16 // the longest match, and what a word-wise copy writes too much
	inSize     = 64 << 10
	inSlack    = 32 // zeros behind the end
)

var errDeflate = errors.New("the compressed data is damaged")

func newInflater(r io.Reader) *inflater { return newInflaterSize(r, inSize, outSize) }

// newInflaterSize makes one with buffers of other sizes: at least 32 bytes and windowSize+1.
func newInflaterSize(r io.Reader, in, out int) *inflater {
	z := &inflater{in: make([]byte, in+inSlack), out: make([]byte, out+outSlack), full: out}
	z.reset(r)
	return z
}

func (z *inflater) reset(r io.Reader) {
	z.r, z.eof, z.pos, z.end, z.limit = r, false, 0, 0, -1
	z.bits, z.n, z.o, z.told = 0, 0, 0, 0
	z.state, z.last, z.stored, z.err = atBlock, false, 0, nil
}

// Read implements io.Reader.
func (z *inflater) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.told == z.o {
		if z.err != nil {
			return 0, z.err
		}
		if z.o >= z.full {
			copy(z.out, z.out[z.o-windowSize:z.o])
			z.o, z.told = windowSize, windowSize
		}
		if z.err = z.step(); z.err != nil && z.err != io.EOF {
			z.o = z.told // some of it may be made of zeros behind the end
		}
	}
	n := copy(p, z.out[z.told:z.o])
	z.told += n
	return n, nil
}

// step decompresses until the output is full, the stream ends or something is wrong.
func (z *inflater) step() error {
	for z.o < z.full {
		var err error
		switch z.state {
		case atBlock:
			if z.last {
				z.state = atEnd
				continue
			}
			err = z.block()
		case inStored:
			err = z.copyStored()
		case inCodes:
			err = z.codes()
		case atEnd:
			if z.used() > z.end {
				return io.ErrUnexpectedEOF
			}
			return io.EOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// used is where the first byte of in is of which no bit was used.
func (z *inflater) used() int { return z.pos - int(z.n>>3) }

// fill reads more input, moving what is left to the front.
func (z *inflater) fill() error {
	if z.eof {
		if z.pos > z.limit {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	from := max(z.pos-8, 0) // what is in bits may have to go back
	z.end = copy(z.in, z.in[from:z.end])
	z.pos -= from
	for size := len(z.in) - inSlack; z.end < size && !z.eof; {
		n, err := z.r.Read(z.in[z.end:size])
		z.end += n
		if err == io.EOF {
			z.eof = true
		} else if err != nil {
			return err
		}
	}
	z.limit = z.end - 16
	if z.eof {
		clear(z.in[z.end : z.end+inSlack])
		z.limit = z.end + 16
	}
	return nil
}

// refill makes sure that 56 bits are there, for what is not in the inner loop.
func (z *inflater) refill() error {
	if z.pos > z.limit {
		if err := z.fill(); err != nil {
			return err
		}
	}
	z.bits |= binary.LittleEndian.Uint64(z.in[z.pos:]) << (z.n & 63)
	z.pos += int((63 - z.n) >> 3)
	z.n |= 56
	return nil
}

// take uses n bits; they must be there.
func (z *inflater) take(n uint) uint64 {
	v := z.bits & (1<<(n&63) - 1)
	z.bits >>= n & 63
	z.n -= n
	return v
}

// block reads a block's header.
func (z *inflater) block() error {
	if err := z.refill(); err != nil {
		return err
	}
	z.last = z.take(1) == 1
	switch z.take(2) {
	case 0:
		return z.startStored()
	case 1:
		z.state = inCodes
		return z.fixedCodes()
	case 2:
		z.state = inCodes
		return z.readCodes()
	}
	return fmt.Errorf("%w: a block of an unknown kind", errDeflate)
}

func (z *inflater) startStored() error {
	z.take(z.n & 7)
	z.pos, z.bits, z.n = z.used(), 0, 0 // whole bytes go back
	if err := z.refill(); err != nil {
		return err
	}
	length, check := z.take(16), z.take(16)
	z.pos, z.bits, z.n = z.used(), 0, 0
	if length != check^0xffff {
		return fmt.Errorf("%w: a stored block's length", errDeflate)
	}
	z.stored, z.state = int(length), inStored
	return nil
}

func (z *inflater) copyStored() error {
	for z.stored > 0 && z.o < z.full {
		if z.pos >= z.end {
			if z.eof {
				return io.ErrUnexpectedEOF
			}
			if err := z.fill(); err != nil {
				return err
			}
			continue
		}
		n := copy(z.out[z.o:z.full], z.in[z.pos:min(z.end, z.pos+z.stored)])
		z.pos += n
		z.o += n
		z.stored -= n
	}
	if z.stored == 0 {
		z.state = atBlock
	}
	return nil
}

// codes decompresses the symbols of a block: until its end, or until the output is full.
func (z *inflater) codes() error {
	in, out, lit, dist := z.in, z.out, &z.lit, &z.dist
	pos, limit, bits, n, o, full := z.pos, z.limit, z.bits, z.n, z.o, z.full
	for o < full {
		if pos > limit {
			z.pos = pos
			if err := z.fill(); err != nil {
				return err
			}
			pos, limit = z.pos, z.limit
		}
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int((63 - n) >> 3)
		n |= 56

		// Up to three literals with short codes need no more bits than are there.
		e := lit[bits&litMask]
		if e&isLiteral != 0 {
			bits >>= e & 63
			n -= uint(e & 63)
			out[o] = byte(e >> 16)
			o++
			if e = lit[bits&litMask]; e&isLiteral != 0 {
				bits >>= e & 63
				n -= uint(e & 63)
				out[o] = byte(e >> 16)
				o++
				if e = lit[bits&litMask]; e&isLiteral != 0 {
					bits >>= e & 63
					n -= uint(e & 63)
					out[o] = byte(e >> 16)
					o++
					continue
				}
			}
			// A match takes up to 48 bits.
			bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			pos += int((63 - n) >> 3)
			n |= 56
		}
		if e&isSpecial != 0 {
			if e&isLink != 0 {
				e = lit[(uint64(e>>12&0xfff)+(bits>>litBits)&(1<<(e>>8&15)-1))&(litSize-1)]
			}
			switch {
			case e&isLiteral != 0:
				bits >>= e & 63
				n -= uint(e & 63)
				out[o] = byte(e >> 16)
				o++
				continue
			case e&isEnd != 0:
				bits >>= e & 63
				n -= uint(e & 63)
				z.state = atBlock
				z.pos, z.bits, z.n, z.o = pos, bits, n, o
				return nil
			case e&isSpecial != 0:
				return fmt.Errorf("%w: a code that stands for nothing", errDeflate)
			}
		}
		bits >>= e & 63
		n -= uint(e & 63)
		x := uint(e >> 8 & 15)
		length := int(e>>16&0x1ff) + int(bits&(1<<x-1))
		bits >>= x
		n -= x

		d := dist[bits&distMask]
		if d&isLink != 0 {
			d = dist[(uint64(d>>12&0xfff)+(bits>>distBits)&(1<<(d>>8&15)-1))&(distSize-1)]
		}
		if d&isSpecial != 0 {
			return fmt.Errorf("%w: a distance that stands for nothing", errDeflate)
		}
		bits >>= d & 63
		n -= uint(d & 63)
		x = uint(d >> 8 & 15)
		back := int(d>>12&0x7fff) + int(bits&(1<<x-1))
		bits >>= x
		n -= x
		if back > o {
			return fmt.Errorf("%w: a match before the beginning", errDeflate)
		}
		end, from := o+length, o-back
		switch {
		case back >= 8:
			for ; o < end; o, from = o+8, from+8 {
				binary.LittleEndian.PutUint64(out[o:], binary.LittleEndian.Uint64(out[from:]))
			}
		case back == 1:
			run := uint64(out[from]) * 0x0101010101010101
			for ; o < end; o += 8 {
				binary.LittleEndian.PutUint64(out[o:], run)
			}
		default:
			for ; o < end; o, from = o+1, from+1 {
				out[o] = out[from]
			}
		}
		o = end
	}
	z.pos, z.bits, z.n, z.o = pos, bits, n, o
	return nil
}
