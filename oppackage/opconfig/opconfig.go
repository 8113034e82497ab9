// Package opconfig reads op configs, the XML files in which op packages tell converters what ops they have, and the ops
// that sources register; and it writes the interface source of a package that has none of its own.
//
// It knows names, and how many inputs, outputs and parameters an op has. It knows nothing of what ops compute, and of the
// XML only what an interface needs.
package opconfig

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// maxConfig and maxOps bound what is read: the largest known config has 40 ops in 100 KB.
const (
	maxConfig = 8 << 20
	maxOps    = 4096
)

// Config is an op package as converters see it.
type Config struct {
	Package string
	Ops     []Op
}

// Op is an op of a package. Counts are inclusive; Max < 0 is any number.
type Op struct {
	Name         string
	Registration string // of BEGIN_PKG_OP_DEFINITION: PKG_ and the name, where nothing else is said
	Params       Count
	Inputs       Count
	Outputs      Count
}

// Count is how many of something an op takes.
type Count struct{ Min, Max int }

type opDefCollection struct {
	XMLName xml.Name
	Package string `xml:"PackageName,attr"`
	Ops     []struct {
		Name    string   `xml:"Name"`
		Inputs  []opPart `xml:"Input"`
		Outputs []opPart `xml:"Output"`
		Params  []opPart `xml:"Parameter"`
	} `xml:"OpDefList>OpDef"`
}

type opPart struct {
	Mandatory string `xml:"Mandatory"`
	Repeated  string `xml:"Repeated"`
}

var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Read reads a config.
func Read(r io.Reader) (Config, error) {
	limited := &io.LimitedReader{R: r, N: maxConfig + 1}
	var c opDefCollection
	if err := xml.NewDecoder(limited).Decode(&c); err != nil {
		if limited.N <= 0 {
			return Config{}, fmt.Errorf("it is longer than %d MiB, which no op config is", maxConfig>>20)
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Config{}, fmt.Errorf("it is not XML: %w", err)
	}
	if c.XMLName.Local != "OpDefCollection" {
		return Config{}, fmt.Errorf("its root is <%s>, and that of an op config is <OpDefCollection>", c.XMLName.Local)
	}
	out := Config{Package: strings.TrimSpace(c.Package)}
	if !name.MatchString(out.Package) {
		return Config{}, fmt.Errorf("PackageName=%q is not a C++ name", c.Package)
	}
	if len(c.Ops) == 0 || len(c.Ops) > maxOps {
		return Config{}, fmt.Errorf("it has %d ops; there are to be 1 to %d", len(c.Ops), maxOps)
	}
	seen := map[string]bool{}
	for _, d := range c.Ops {
		op := Op{Name: strings.TrimSpace(d.Name), Inputs: count(d.Inputs), Outputs: count(d.Outputs), Params: count(d.Params)}
		op.Registration = "PKG_" + op.Name
		if !name.MatchString(op.Name) {
			return Config{}, fmt.Errorf("an op's name is %q, which is not a C++ name", d.Name)
		}
		if seen[op.Name] {
			return Config{}, fmt.Errorf("op %s is there twice", op.Name)
		}
		seen[op.Name] = true
		out.Ops = append(out.Ops, op)
	}
	return out, nil
}

func count(parts []opPart) Count {
	c := Count{Max: len(parts)}
	for _, p := range parts {
		if strings.TrimSpace(p.Mandatory) == "true" {
			c.Min++
		}
		if strings.TrimSpace(p.Repeated) == "true" {
			c.Max = -1
		}
	}
	return c
}

var (
	comments   = lazyregexp.New(`(?s)//[^\n]*|/\*.*?\*/`)
	begins     = lazyregexp.New(`\bBEGIN_PKG_OP_DEFINITION\s*\(\s*([A-Za-z_][A-Za-z0-9_]*)\s*\)`)
	registered = lazyregexp.New(`\bDEF_PACKAGE_OP(?:_AND_COST(?:_F)?_AND_FLAGS)?\s*\((?:[^();"]|\((?:[^();"]|\([^();"]*\))*\))*?,\s*"([A-Za-z_][A-Za-z0-9_.]*)"`)
)

// Registered returns the ops that a source registers, by the names of their macros: those of one source share a
// registration. A source that registers none, such as one with functions for others, gives none.
func Registered(source []byte) []Op {
	text := comments.Get().ReplaceAll(source, []byte(" "))
	begin := begins.Get().FindSubmatch(text)
	if begin == nil {
		return nil
	}
	var names []string
	for _, m := range registered.Get().FindAllSubmatch(text, maxOps) {
		names = append(names, string(m[1]))
	}
	return ops(string(begin[1]), names)
}

// ops returns an op for each different name. A registration without names has one op without a name.
func ops(registration string, names []string) (all []Op) {
	if len(names) == 0 { // only optimizations, perhaps: they are registered all the same
		names = []string{""}
	}
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			all = append(all, Op{Name: n, Registration: registration, Params: Count{0, -1}, Inputs: Count{0, -1},
				Outputs: Count{0, -1}})
		}
	}
	return all
}
