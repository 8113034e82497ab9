package libcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/opconfig"
	"github.com/hexmage/hexmage/qnn/buildid"
)

// Tool is this tool's name and version. Raise the version whenever the findings change.
const Tool tool.Name[Spec] = "oppackage-check/1"

// Spec names the library to check.
type Spec struct {
	Library  string         `json:"library"`
	Arch     oppackage.Arch `json:"arch"`
	Package  string         `json:"package"`
	Provider string         `json:"provider,omitempty"` // symbol through which backends load the package
	Header   string         `json:"header,omitempty"`   // the SDK's QnnSdkBuildId.h
	Config   string         `json:"config,omitempty"`   // the op config, an XML file
	Out      string         `json:"out"`                // report file, without the suffixes .json and .txt
}

// Run checks a library and writes the report.
func Run(_ context.Context, s Spec, env tool.Env) error {
	w := Want{Arch: s.Arch, Package: s.Package, Provider: s.Provider}
	if s.Header != "" {
		f, err := os.Open(s.Header)
		if err != nil {
			return err
		}
		defer f.Close()
		if w.BuildID, err = buildid.First(f); err != nil {
			return err
		}
	}
	if s.Config != "" {
		c, err := opconfig.ReadFile(s.Config)
		if err != nil {
			return err
		}
		if c.Package != s.Package {
			return fmt.Errorf("%s configures package %s, but the step's package is %s: change one of the names so that "+
				"converters find the library", filepath.Base(s.Config), c.Package, s.Package)
		}
		for _, op := range c.Ops {
			w.Ops = append(w.Ops, op.Name)
		}
	}
	r, err := Check(s.Library, w)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile(s.Out+".json", append(text, '\n'), 0o644)
	}
	if err == nil {
		err = os.WriteFile(s.Out+".txt", []byte(r.Text()), 0o644)
	}
	if err != nil || len(r.Problems) == 0 {
		return err
	}
	for _, p := range r.Problems {
		fmt.Fprintf(env.Stderr, "%s for %s: %s\n", r.Library, r.Target, p)
	}
	return tool.ErrSaid
}

// largest is the number of symbols in Text.
const largest = 15

// Text returns the report as text for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s for %s: %d bytes, %s, e_flags %#x, segments aligned to %d\n", r.Library, r.Target, r.Bytes, r.Machine, r.Flags, r.Page)
	list := func(what string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "  %-10s %s\n", what, strings.Join(names, " "))
		}
	}
	list("provider", []string{r.Provider})
	list("build id", r.BuildIDs)
	list("ops", r.Ops)
	list("needs", r.Needed)
	list("imports", r.Imports)
	list("weak", r.Weak)
	fmt.Fprintf(&b, "  %-10s", "sizes")
	for _, name := range []string{"code", "const", "data", "zero", "debug"} {
		fmt.Fprintf(&b, " %s %d", name, r.Sections[name])
	}
	b.WriteString("\n  largest\n")
	for _, s := range r.Symbols[:min(largest, len(r.Symbols))] {
		fmt.Fprintf(&b, "    %8d %s\n", s.Bytes, s.Name)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "  PROBLEM    %s\n", p)
	}
	return b.String()
}
