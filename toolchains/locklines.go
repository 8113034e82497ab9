package toolchains

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// The packages of an entry are strings in the lock file, one a line, with fields between single spaces.
const (
	packageForm = "NAME VERSION ARCHITECTURE SIZE SHA256"
	wheelForm   = "FILE SIZE SHA256"
)

// readLines reads the packages and wheels of a block.
func (e *Locked) readLines(b *lockedBlock) error {
	names := map[string]bool{}
	unique := func(name string) error {
		if names[name] {
			return fmt.Errorf("duplicate package %s", name)
		}
		names[name] = true
		return nil
	}
	for _, line := range b.Packages {
		f, size, err := fields(line, packageForm)
		var p deb.Package
		if err == nil {
			p = deb.Package{Name: f[0], Version: f[1], Arch: f[2], Size: size, SHA256: f[4]}
			err = p.Check()
		}
		if err == nil {
			err = unique(p.Name)
		}
		if err != nil {
			return fmt.Errorf("packages: %w", err)
		}
		e.Packages = append(e.Packages, p)
	}
	for _, line := range b.Wheels {
		f, size, err := fields(line, wheelForm)
		var w pypi.Wheel
		if err == nil {
			w, err = pypi.ParseFile(f[0])
		}
		if err == nil {
			w.Size, w.SHA256 = size, f[2]
			err = unique(w.Project)
		}
		if err != nil {
			return fmt.Errorf("wheels: %w", err)
		}
		e.Wheels = append(e.Wheels, w)
	}
	return nil
}

// lines returns the packages and wheels as lines for readLines.
func (e *Locked) lines() (packages, wheels []string) {
	for _, p := range e.Packages {
		packages = append(packages, fmt.Sprintf("%s %s %s %d %s", p.Name, p.Version, p.Arch, p.Size, p.SHA256))
	}
	for _, w := range e.Wheels {
		wheels = append(wheels, fmt.Sprintf("%s %d %s", w.File, w.Size, w.SHA256))
	}
	return packages, wheels
}

// fields splits a line that ends with a size and a sha256. The size is 0 if it is unknown.
func fields(line, form string) (f []string, size int64, err error) {
	f = strings.Split(line, " ")
	n := len(f)
	if strings.Count(form, " ") != n-1 || strings.Join(strings.Fields(line), " ") != line {
		return nil, 0, fmt.Errorf("invalid line %.200q; write %s, separated by single spaces", line, form)
	}
	size, err = strconv.ParseInt(f[n-2], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != f[n-2] {
		return nil, 0, fmt.Errorf("invalid size %.100q in %.200q", f[n-2], line)
	}
	if !isHex(f[n-1], 64) {
		return nil, 0, fmt.Errorf("invalid sha256 %.100q in %.200q", f[n-1], line)
	}
	return f, size, nil
}

// setLines sets an attribute to a list of strings, one a line.
func setLines(body *hclwrite.Body, name string, lines []string) {
	if len(lines) == 0 {
		return
	}
	newline := &hclwrite.Token{Type: hclsyntax.TokenNewline, Bytes: []byte("\n")}
	out := hclwrite.Tokens{{Type: hclsyntax.TokenOBrack, Bytes: []byte("[")}, newline}
	for _, line := range lines {
		out = append(out, hclwrite.TokensForValue(cty.StringVal(line))...)
		out = append(out, &hclwrite.Token{Type: hclsyntax.TokenComma, Bytes: []byte(",")}, newline)
	}
	body.SetAttributeRaw(name, append(out, &hclwrite.Token{Type: hclsyntax.TokenCBrack, Bytes: []byte("]")}))
}
