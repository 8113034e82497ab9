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

// Interface writes the interface source of a package with the ops: what the HTP backend calls when it loads the library.
// Ops are registered in the order of c.Ops.
func Interface(w io.Writer, c Config) error {
	if !name.MatchString(c.Package) || len(c.Ops) == 0 {
		return fmt.Errorf("interface of %q: a package has a C++ name and ops", c.Package)
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
		return fmt.Errorf("interface of %s: the sources register no op", c.Package)
	}
	return template.Must(template.New("interface").Parse(interfaceText)).Execute(w, data)
}
