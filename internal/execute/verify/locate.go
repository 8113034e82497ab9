package verify

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/elffile"
	"github.com/hexmage/hexmage/internal/event"
)

// Limits of what is said about one file.
const (
	maxParts   = 12
	maxLine    = 160     // characters of a line that is shown
	maxMembers = 100_000 // of an archive that is taken apart
	maxSymbols = 1 << 20
)

// region is a named part of a file: an ELF section, a member of an archive.
type region struct {
	name string
	span
}

// locate says in which parts of the files the differing bytes are. Files that are not what they seem to be are left
// as they are: as bytes.
func locate(d *event.Difference, s spans, a, b []byte) {
	switch {
	case bytes.HasPrefix(a, []byte(elf.ELFMAG)) && bytes.HasPrefix(b, []byte(elf.ELFMAG)):
		d.Parts = elfParts(s, a, b)
	case bytes.HasPrefix(a, []byte(arMagic)) && bytes.HasPrefix(b, []byte(arMagic)):
		d.Parts = memberParts(s, arMembers(a), arMembers(b), a, b)
	case bytes.HasPrefix(a, []byte("PK\x03\x04")) && bytes.HasPrefix(b, []byte("PK\x03\x04")):
		d.Parts = zipParts(a, b)
	case bytes.HasPrefix(a, []byte{0x1f, 0x8b}) && len(a) >= 10 && len(b) >= 10 && !bytes.Equal(a[4:8], b[4:8]):
		d.Hints = append(d.Hints, "the gzip header has the time of packing: gzip -n leaves it out")
	case isText(a) && isText(b):
		d.Lines = firstLines(a, b)
	case len(a) == len(b):
		d.Parts = byteParts(s)
	}
}

// byteParts are the ranges themselves.
func byteParts(s spans) []string {
	var parts []string
	for _, r := range s.head[:min(len(s.head), maxParts)] {
		parts = append(parts, fmt.Sprintf("0x%x: %s", r.from, count(int(r.to-r.from), "byte")))
	}
	if over := s.ranges - len(parts); over > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", over))
	}
	return parts
}

// elfParts compares section by section, by name: so it finds what differs though sections have moved.
func elfParts(s spans, a, b []byte) []string {
	fa, errA := elffile.Open(bytes.NewReader(a), int64(len(a)))
	fb, errB := elffile.Open(bytes.NewReader(b), int64(len(b)))
	if errA != nil || errB != nil {
		return nil
	}
	inA, errA := fa.Sections()
	inB, errB := fb.Sections()
	if errA != nil || errB != nil {
		return nil
	}
	syms := symbols(fa, inA)
	if len(a) == len(b) && slices.Equal(layout(inA), layout(inB)) {
		return spanParts(s, append(layout(inA), region{"ELF header", span{0, 64}}), syms)
	}
	var parts []string
	second := map[string]elf.SectionHeader{}
	for _, sec := range inB {
		second[sec.Name] = sec
	}
	for _, sec := range inA {
		other, ok := second[sec.Name]
		delete(second, sec.Name)
		switch {
		case !ok:
			parts = append(parts, sec.Name+": only in the first")
		default:
			x, y := slice(a, sec), slice(b, other)
			if bytes.Equal(x, y) {
				continue
			}
			sub := spans{first: -1}
			n := min(len(x), len(y))
			sub.chunk(0, x[:n], y[:n])
			switch {
			case len(x) != len(y):
				parts = append(parts, fmt.Sprintf("%s: %d bytes, then %d", sec.Name, len(x), len(y)))
			default:
				parts = append(parts, fmt.Sprintf("%s: %s, the first at +0x%x%s", sec.Name, count(int(sub.bytes), "byte"), sub.first,
					symbolAt(syms, int64(sec.Offset)+sub.first)))
			}
		}
	}
	for _, sec := range inB {
		if left, ok := second[sec.Name]; ok && left == sec {
			parts = append(parts, sec.Name+": only in the second")
		}
	}
	return fewer(parts)
}

// slice is the section's bytes in the file, as far as they are there.
func slice(b []byte, s elf.SectionHeader) []byte {
	if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL || s.Offset > uint64(len(b)) {
		return nil
	}
	return b[s.Offset:min(uint64(len(b)), s.Offset+min(s.FileSize, uint64(len(b))))]
}

func layout(sections []elf.SectionHeader) []region {
	var all []region
	for _, s := range sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && s.FileSize > 0 && s.Offset < 1<<62 && s.FileSize < 1<<62 {
			all = append(all, region{s.Name, span{int64(s.Offset), int64(s.Offset + s.FileSize)}})
		}
	}
	return all
}

// symbols are the named objects and functions, by place in the file, in order.
func symbols(f *elffile.File, sections []elf.SectionHeader) []region {
	var all []region
	err := f.Symbols(func(s elf.Symbol) {
		if t := elf.ST_TYPE(s.Info); (t != elf.STT_OBJECT && t != elf.STT_FUNC) || s.Size == 0 || int(s.Section) >= len(sections) || len(all) > maxSymbols {
			return
		}
		sec := sections[s.Section]
		at := s.Value
		if f.Type != elf.ET_REL {
			at -= sec.Addr
		}
		if at > sec.FileSize || s.Size > sec.FileSize || sec.Offset > 1<<62 {
			return
		}
		all = append(all, region{s.Name, span{int64(sec.Offset + at), int64(sec.Offset + at + s.Size)}})
	})
	if err != nil || len(all) > maxSymbols {
		return nil
	}
	slices.SortFunc(all, func(x, y region) int { return int(min(1, max(-1, x.from-y.from))) })
	return all
}

func symbolAt(all []region, at int64) string {
	i, _ := slices.BinarySearchFunc(all, at, func(r region, at int64) int {
		if r.from <= at {
			return -1
		}
		return 1
	})
	if i > 0 && at < all[i-1].to {
		return fmt.Sprintf(" (in %s)", strconv.Quote(cut(all[i-1].name, 80)))
	}
	return ""
}

// spanParts counts differing ranges by the region that they begin in.
func spanParts(s spans, regions, syms []region) []string {
	type sum struct{ bytes, ranges, first int64 }
	sums := make([]sum, len(regions)+1)
	for _, r := range s.head {
		at := slices.IndexFunc(regions, func(x region) bool { return x.from <= r.from && r.from < x.to })
		if at < 0 {
			at = len(regions)
		}
		if sums[at].ranges == 0 {
			sums[at].first = r.from
		}
		sums[at].ranges++
		sums[at].bytes += r.to - r.from
	}
	var parts []string
	for i, n := range sums {
		switch {
		case n.ranges == 0:
		case i == len(regions):
			parts = append(parts, fmt.Sprintf("outside of all parts: %s, the first at 0x%x", count(int(n.ranges), "range"), n.first))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s, the first at +0x%x%s", regions[i].name, count(int(n.ranges), "range"), n.first-regions[i].from, symbolAt(syms, n.first)))
		}
	}
	return fewer(parts)
}

func fewer(parts []string) []string {
	if over := len(parts) - maxParts; over > 0 {
		parts = append(parts[:maxParts:maxParts], fmt.Sprintf("and %d more", over))
	}
	return parts
}

const arMagic = "!<arch>\n"

// arMembers are the headers and contents of an ar archive's members.
func arMembers(b []byte) []region {
	var all []region
	for at := len(arMagic); at+60 <= len(b) && len(all) < maxMembers; {
		h := b[at : at+60]
		size, err := strconv.ParseInt(strings.TrimSpace(string(h[48:58])), 10, 48)
		if err != nil || size < 0 || h[58] != '`' {
			return all
		}
		name := strings.TrimRight(strings.TrimSpace(string(h[:16])), "/")
		if name == "" {
			name = "symbol table"
		}
		end := min(int64(len(b)), int64(at)+60+size)
		all = append(all, region{name + ", header", span{int64(at), int64(at) + 60}}, region{name, span{int64(at) + 60, end}})
		at += 60 + int(size+size&1)
	}
	return all
}

// memberParts compares archives: byte by byte where their members are at the same places, else by the members' names.
func memberParts(s spans, ma, mb []region, a, b []byte) []string {
	if slices.Equal(ma, mb) {
		return spanParts(s, ma, nil)
	}
	names := func(m []region) []string {
		var n []string
		for _, r := range m {
			n = append(n, r.name)
		}
		return n
	}
	na, nb := names(ma), names(mb)
	if !slices.Equal(na, nb) {
		slices.Sort(na)
		slices.Sort(nb)
		if slices.Equal(na, nb) {
			return []string{"the members are in another order"}
		}
		return []string{"the archives have other members"}
	}
	var parts []string
	for i := range ma {
		if !bytes.Equal(a[ma[i].from:ma[i].to], b[mb[i].from:mb[i].to]) {
			parts = append(parts, ma[i].name)
		}
	}
	return fewer(parts)
}

func zipParts(a, b []byte) []string {
	za, errA := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	zb, errB := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if errA != nil || errB != nil || len(za.File) > maxMembers || len(zb.File) > maxMembers {
		return nil
	}
	second := map[string]*zip.File{}
	for _, f := range zb.File {
		second[f.Name] = f
	}
	var parts []string
	for _, f := range za.File {
		other := second[f.Name]
		delete(second, f.Name)
		switch {
		case other == nil:
			parts = append(parts, f.Name+": only in the first")
		case f.CRC32 != other.CRC32 || f.UncompressedSize64 != other.UncompressedSize64:
			parts = append(parts, f.Name+": content")
		case !f.Modified.Equal(other.Modified) || f.ModifiedDate != other.ModifiedDate || f.ModifiedTime != other.ModifiedTime:
			parts = append(parts, f.Name+": time in the archive")
		case f.ExternalAttrs != other.ExternalAttrs:
			parts = append(parts, f.Name+": mode in the archive")
		case !bytes.Equal(f.Extra, other.Extra) || f.CompressedSize64 != other.CompressedSize64:
			parts = append(parts, f.Name+": how it is packed")
		}
	}
	for _, f := range zb.File {
		if second[f.Name] == f {
			parts = append(parts, f.Name+": only in the second")
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "the members are the same, in another order or at other places")
	}
	return fewer(parts)
}

// isText tells whether it looks like text: UTF-8 without control characters but those of lines.
func isText(b []byte) bool {
	head := b[:min(len(b), 64<<10)]
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && len(head) >= utf8.UTFMax || r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != 0x1b {
			return false
		}
		head = head[n:]
	}
	return true
}

// firstLines are the first lines that differ, with their number.
func firstLines(a, b []byte) []string {
	for n := 1; ; n++ {
		x, restA, _ := bytes.Cut(a, []byte("\n"))
		y, restB, _ := bytes.Cut(b, []byte("\n"))
		if !bytes.Equal(x, y) || len(restA) == 0 || len(restB) == 0 {
			return []string{fmt.Sprintf("%d: %s", n, shorten(x, y)), fmt.Sprintf("%d: %s", n, shorten(y, x))}
		}
		a, b = restA, restB
	}
}

// shorten returns the part of a line that holds its first difference to another.
func shorten(x, y []byte) string {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	if i > maxLine/2 {
		return "…" + cut(string(x[i-maxLine/4:]), maxLine)
	}
	return cut(string(x), maxLine)
}

func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

func lastLines(b []byte, n int) []string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	lines = lines[max(0, len(lines)-n):]
	for i := range lines {
		lines[i] = cut(lines[i], maxLine)
	}
	return lines
}
