// Package opconfig reads op configs and the ops that sources register, and writes interface sources. An op config is
// an XML file that describes a package's ops to converters.
//
// It knows the names of ops and their numbers of inputs, outputs and parameters. It does not know what ops compute,
// and it reads only the parts of the XML that an interface needs.
package opconfig

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// maxConfig and maxOps limit a config. The largest known one has 40 ops in 100 KB.
const (
	maxConfig = 8 << 20
	maxOps    = 4096
)

// Config is the content of an op config.
type Config struct {
	Package string
	Ops     []Op
}

// Op is an op of a package. A negative Count.Max means no upper limit.
type Op struct {
	Name         string
	Registration string // argument of BEGIN_PKG_OP_DEFINITION; by default PKG_ and the name
	Params       Count
	Inputs       Count
	Outputs      Count
}

// Count is a range of numbers, including both ends.
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

// Read parses an op config.
func Read(r io.Reader) (Config, error) {
	limited := &io.LimitedReader{R: r, N: maxConfig + 1}
	var c opDefCollection
	if err := xml.NewDecoder(limited).Decode(&c); err != nil {
		if limited.N <= 0 {
			return Config{}, fmt.Errorf("file exceeds %d MiB, the limit of an op config", maxConfig>>20)
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Config{}, fmt.Errorf("invalid XML: %w", err)
	}
	if c.XMLName.Local != "OpDefCollection" {
		return Config{}, fmt.Errorf("root element is <%s>, but an op config has <OpDefCollection>", c.XMLName.Local)
	}
	out := Config{Package: strings.TrimSpace(c.Package)}
	if !name.MatchString(out.Package) {
		return Config{}, fmt.Errorf("PackageName %q: invalid C++ identifier", c.Package)
	}
	if len(c.Ops) == 0 || len(c.Ops) > maxOps {
		return Config{}, fmt.Errorf("found %d ops, expected 1 to %d", len(c.Ops), maxOps)
	}
	seen := map[string]bool{}
	for _, d := range c.Ops {
		op := Op{Name: strings.TrimSpace(d.Name), Inputs: count(d.Inputs), Outputs: count(d.Outputs), Params: count(d.Params)}
		op.Registration = "PKG_" + op.Name
		if !name.MatchString(op.Name) {
			return Config{}, fmt.Errorf("op name %q: invalid C++ identifier", d.Name)
		}
		if seen[op.Name] {
			return Config{}, fmt.Errorf("duplicate op %s", op.Name)
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

// Registered returns the ops that the macros in a source register. All ops of a source share a registration. A source
// without a registration, for example with helper functions only, has no ops.
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

// ops returns an op for each distinct name. A registration without names has one op without a name.
func ops(registration string, names []string) (all []Op) {
	if len(names) == 0 { // a registration of optimizations only counts too
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
