package opconfig

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"text/template"
)

//go:embed interface.cpp.tmpl
var interfaceText string

// Interface writes the source of a package's interface, which the HTP backend calls to load the library. The interface
// registers the ops in the order of c.Ops.
func Interface(w io.Writer, c Config) error {
	if !name.MatchString(c.Package) {
		return fmt.Errorf("op package name %q: invalid C++ identifier: use letters, digits and _", c.Package)
	}
	data := struct {
		Package       string
		Registrations []string
		Ops           []Op
	}{Package: c.Package}
	for _, op := range c.Ops {
		if !slices.Contains(data.Registrations, op.Registration) {
			data.Registrations = append(data.Registrations, op.Registration)
		}
		if op.Name != "" {
			data.Ops = append(data.Ops, op)
		}
	}
	if len(data.Ops) == 0 {
		return fmt.Errorf("op package %s: missing op: register one with DEF_PACKAGE_OP in src/ops/*.cpp", c.Package)
	}
	return template.Must(template.New("interface").Parse(interfaceText)).Execute(w, data)
}
