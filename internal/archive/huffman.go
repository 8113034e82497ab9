package archive

import (
	"fmt"
	"math/bits"
)

// A table gives, for the next bits of the stream, what they stand for. An entry has the length of the code in bits 0 to 5; bits 8
// to 11 are how many extra bits follow, which are added to the length in bits 16 to 24 or the distance in bits 12 to 26; a literal
// is in bits 16 to 23. Codes that are longer than the index have a second table: the entry for their first bits has isLink, its
// size in bits 8 to 11, and where it is in bits 12 to 23.
const (
	litBits  = 11
	litMask  = 1<<litBits - 1
	litSize  = 4096 // 2342 are the most that 288 codes of up to 15 bits need
	distBits = 8
	distMask = 1<<distBits - 1
	distSize = 1024 // 402 for 32 codes

	isLiteral = 1 << 31
	isSpecial = 1 << 30 // no length or distance: with one of the following, or else invalid
	isLink    = 1 << 29
	isEnd     = 1 << 28

	maxCode  = 15 // bits
	litCodes = 288
)

type (
	litTable  [litSize]uint32
	distTable [distSize]uint32
)

// What codes stand for: base values and numbers of extra bits.
func lengthEntry(symbol int) uint32 {
	switch s := symbol - 257; {
	case s < 0 || s > 28:
		return isSpecial
	case s == 28:
		return 258 << 16
	case s < 8:
		return uint32(3+s) << 16
	default:
		x := uint32(s/4 - 1)
		return (3+(4+uint32(s%4))<<x)<<16 | x<<8
	}
}

func litEntry(symbol int) uint32 {
	switch {
	case symbol < 256:
		return isLiteral | uint32(symbol)<<16
	case symbol == 256:
		return isSpecial | isEnd
	}
	return lengthEntry(symbol)
}

func distEntry(symbol int) uint32 {
	switch s := uint32(symbol); {
	case s > 29:
		return isSpecial
	case s < 4:
		return (1 + s) << 12
	default:
		x := s/2 - 1
		return (1+(2+s%2)<<x)<<12 | x<<8
	}
}

// build makes a table for codes of the lengths, 0 for a symbol that has none.
func build(table []uint32, index uint, lengths []uint8, entry func(symbol int) uint32) error {
	var count [maxCode + 1]int
	longest := uint(0)
	for _, l := range lengths {
		count[l]++
		longest = max(longest, uint(l))
	}
	count[0] = 0
	left, used := 1, 0
	for l := 1; l <= maxCode; l++ {
		if left = left<<1 - count[l]; left < 0 {
			return fmt.Errorf("%w: more codes than there is room for", errDeflate)
		}
		used += count[l]
	}
	if left > 0 && (used > 1 || used == 1 && count[1] != 1) {
		return fmt.Errorf("%w: codes that leave bits without meaning", errDeflate)
	}
	clearEntries(table[:1<<index])
	if used == 0 {
		return nil
	}
	// The symbols in the order of their codes: so those that share a second table are next to each other.
	var at [maxCode + 2]int
	for l := 1; l <= maxCode; l++ {
		at[l+1] = at[l] + count[l]
	}
	var order [litCodes]uint16
	for symbol, l := range lengths {
		if l > 0 {
			order[at[l]] = uint16(symbol)
			at[l]++
		}
	}
	code, length := uint32(0), uint(lengths[order[0]])
	free := 1 << index // where the next second table goes
	first, second, size := -1, 0, uint(0)
	for _, symbol := range order[:used] {
		l := uint(lengths[symbol])
		code <<= l - length
		length = l
		turned := int(bits.Reverse16(uint16(code)) >> (16 - l)) // the stream has a code's first bit lowest
		code++
		e := entry(int(symbol)) | uint32(l)
		if l <= index {
			fillEntries(table[:1<<index], turned, l, e)
			count[l]--
			continue
		}
		if f := turned & (1<<index - 1); f != first {
			first, second = f, free
			size = l - index
			for room := 1<<size - count[l]; room > 0 && size+index < longest; {
				size++
				room = room<<1 - count[size+index]
			}
			if free += 1 << size; free > len(table) {
				return fmt.Errorf("%w: codes that need too large a table", errDeflate)
			}
			clearEntries(table[second:free])
			table[first] = isSpecial | isLink | uint32(second)<<12 | uint32(size)<<8
		}
		count[l]--
		fillEntries(table[second:second+1<<size], turned>>index, l-index, e)
	}
	return nil
}

// fillEntries sets all entries whose lowest bits are the code.
func fillEntries(table []uint32, code int, length uint, e uint32) {
	for i := code; i < len(table); i += 1 << length {
		table[i] = e
	}
}

func clearEntries(table []uint32) {
	for i := range table {
		table[i] = isSpecial
	}
}

// codeOrder is the order in which the lengths of the codes for lengths are stored.
const codeOrder = "\x10\x11\x12\x00\x08\x07\x09\x06\x0a\x05\x0b\x04\x0c\x03\x0d\x02\x0e\x01\x0f"

// readCodes reads the lengths of a block's codes, which are themselves compressed.
func (z *inflater) readCodes() error {
	lits, dists, orders := int(z.take(5))+257, int(z.take(5))+1, int(z.take(4))+4
	if lits > 286 || dists > 30 {
		return fmt.Errorf("%w: %d codes for literals, %d for distances", errDeflate, lits, dists)
	}
	var small [19]uint8
	for i := range orders {
		if i%8 == 0 {
			if err := z.refill(); err != nil {
				return err
			}
		}
		small[codeOrder[i]] = uint8(z.take(3))
	}
	const index = 7
	var table [1 << index]uint32
	if err := build(table[:], index, small[:], func(symbol int) uint32 { return uint32(symbol) << 16 }); err != nil {
		return err
	}
	var lengths [litCodes + 32]uint8
	for i := 0; i < lits+dists; {
		if err := z.refill(); err != nil {
			return err
		}
		e := table[z.bits&(1<<index-1)]
		if e&isSpecial != 0 {
			return fmt.Errorf("%w: a length that stands for nothing", errDeflate)
		}
		z.take(uint(e & 63))
		symbol := e >> 16
		if symbol < 16 {
			lengths[i] = uint8(symbol)
			i++
			continue
		}
		var value uint8
		n := 0
		switch symbol {
		case 16:
			if i == 0 {
				return fmt.Errorf("%w: a repeated length, and none before it", errDeflate)
			}
			value, n = lengths[i-1], 3+int(z.take(2))
		case 17:
			n = 3 + int(z.take(3))
		default:
			n = 11 + int(z.take(7))
		}
		if i+n > lits+dists {
			return fmt.Errorf("%w: more lengths than codes", errDeflate)
		}
		for ; n > 0; n-- {
			lengths[i] = value
			i++
		}
	}
	if err := build(z.lit[:], litBits, lengths[:lits], litEntry); err != nil {
		return err
	}
	return build(z.dist[:], distBits, lengths[lits:lits+dists], distEntry)
}

// fixedCodes makes the tables of blocks that bring none.
func (z *inflater) fixedCodes() error {
	var lengths [litCodes]uint8
	for i := range lengths {
		switch {
		case i < 144, i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	if err := build(z.lit[:], litBits, lengths[:], litEntry); err != nil {
		return err
	}
	var dists [32]uint8
	for i := range dists {
		dists[i] = 5
	}
	return build(z.dist[:], distBits, dists[:], distEntry)
}
