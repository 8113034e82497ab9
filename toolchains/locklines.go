package toolchains

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// The packages of an entry are strings in the lock file, one a line, with fields between single spaces:
//
//	packages = [ "NAME VERSION ARCHITECTURE SIZE SHA256", … ]
//	wheels   = [ "FILE SIZE SHA256", … ]
const (
	packageFields = 5
	wheelFields   = 3
)

// readLines reads the packages and wheels of a block.
func (e *Locked) readLines(b *lockedBlock) hcl.Diagnostics {
	names := map[string]bool{}
	unique := func(name string) error {
		if names[name] {
			return fmt.Errorf("duplicate package %s", name)
		}
		names[name] = true
		return nil
	}
	diags := eachLine(e, b.Packages, func(line string) error {
		p, err := parsePackage(line)
		if err != nil {
			return err
		}
		e.Packages = append(e.Packages, p)
		return unique(p.Name)
	})
	return append(diags, eachLine(e, b.Wheels, func(line string) error {
		w, err := parseWheel(line)
		if err != nil {
			return err
		}
		e.Wheels = append(e.Wheels, w)
		return unique(w.Project)
	})...)
}

// eachLine calls read for each string of a list.
func eachLine(e *Locked, list *hcl.Attribute, read func(line string) error) (diags hcl.Diagnostics) {
	if list == nil {
		return nil
	}
	bad := func(at hcl.Range, err error) {
		diags = append(diags, lockError(at, fmt.Sprintf("%s of %s %s: %v", list.Name, e.Name, e.Version, err)))
	}
	lines, wrong := hcl.ExprList(list.Expr)
	if wrong.HasErrors() {
		bad(list.Range, errors.New("want a list of strings"))
	}
	for _, expr := range lines {
		v, wrong := expr.Value(nil)
		if wrong.HasErrors() || v.IsNull() || v.Type() != cty.String {
			bad(expr.Range(), errors.New("want a string"))
		} else if err := read(v.AsString()); err != nil {
			bad(expr.Range(), err)
		}
	}
	return diags
}

func parsePackage(line string) (deb.Package, error) {
	f, size, err := fields(line, packageFields, "NAME VERSION ARCHITECTURE SIZE SHA256")
	if err != nil {
		return deb.Package{}, err
	}
	p := deb.Package{Name: f[0], Version: f[1], Arch: f[2], Size: size, SHA256: f[4]}
	return p, p.Check()
}

func packageLine(p deb.Package) string {
	return fmt.Sprintf("%s %s %s %d %s", p.Name, p.Version, p.Arch, p.Size, p.SHA256)
}

func parseWheel(line string) (*Wheel, error) {
	f, size, err := fields(line, wheelFields, "FILE SIZE SHA256")
	if err != nil {
		return nil, err
	}
	return NewWheel(f[0], size, f[2])
}

// NewWheel returns the wheel with that name of a file.
func NewWheel(file string, size int64, sha256 string) (*Wheel, error) {
	w, err := pypi.ParseFile(file)
	if err != nil {
		return nil, err
	}
	return &Wheel{Project: w.Project, Version: w.Version, File: file, Size: size, SHA256: sha256}, nil
}

func (w *Wheel) line() string {
	return fmt.Sprintf("%s %d %s", w.File, w.Size, w.SHA256)
}

// fields splits a line that ends with a size and a sha256. The size is 0 if it is not known.
func fields(line string, n int, form string) (f []string, size int64, err error) {
	f = strings.Split(line, " ")
	for _, text := range f {
		if len(f) != n || text == "" {
			return nil, 0, fmt.Errorf("invalid line %.200q, want %s with one space between", line, form)
		}
	}
	text, sum := f[n-2], f[n-1]
	size, err = strconv.ParseInt(text, 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != text {
		return nil, 0, fmt.Errorf("invalid size %.100q in %.200q", text, line)
	}
	if !isHex(sum, 64) {
		return nil, 0, fmt.Errorf("invalid sha256 %.100q in %.200q", sum, line)
	}
	return f, size, nil
}

// lockLines returns a list of strings, one a line.
func lockLines[T any](all []T, line func(T) string) hclwrite.Tokens {
	newline := &hclwrite.Token{Type: hclsyntax.TokenNewline, Bytes: []byte("\n")}
	out := hclwrite.Tokens{{Type: hclsyntax.TokenOBrack, Bytes: []byte("[")}, newline}
	for _, x := range all {
		out = append(out, hclwrite.TokensForValue(cty.StringVal(line(x)))...)
		out = append(out, &hclwrite.Token{Type: hclsyntax.TokenComma, Bytes: []byte(",")}, newline)
	}
	return append(out, &hclwrite.Token{Type: hclsyntax.TokenCBrack, Bytes: []byte("]")})
}
