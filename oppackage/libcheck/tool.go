package libcheck

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

// ToolName and ToolVersion name the built-in tool. The version changes when what it finds in the same input does.
const (
	ToolName    = "oppackage-check"
	ToolVersion = "1"
)

// Run is `hexmage tool oppackage-check`: it checks a library and reports on it. Its exit code is 0, 1 when something is wrong
// with the library, 2 for wrong arguments.
func Run(_ context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet(ToolName, flag.ContinueOnError)
	flags.SetOutput(stderr)
	lib := flags.String("library", "", "the library, a `file`")
	target := flags.String("target", "", "the `target` that it is for")
	pkg := flags.String("package", "", "`name` of the package")
	provider := flags.String("provider", "", "`symbol` by which backends know the package")
	header := flags.String("build-id", "", "the SDK's QnnSdkBuildId.h, a `file`")
	config := flags.String("config", "", "the op config, an XML `file`")
	out := flags.String("out", "", "`file` for the report: .json and .txt are appended")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", ToolName, err)
		return code
	}
	arches, err := oppackage.Select([]string{*target})
	if err != nil || *lib == "" || *pkg == "" || *out == "" || flags.NArg() > 0 {
		return fail(2, fmt.Errorf("--library, --target, --package and --out are needed (%v)", err))
	}
	w := Want{Arch: arches[0], Package: *pkg, Provider: *provider}
	if *header != "" {
		text, err := os.ReadFile(*header)
		if err != nil {
			return fail(1, err)
		}
		w.BuildID = HeaderBuildID(text)
	}
	if *config != "" {
		c, err := opconfig.ReadFile(*config)
		if err != nil {
			return fail(1, err)
		}
		if c.Package != *pkg {
			return fail(1, fmt.Errorf("%s is the config of package %s, not %s: converters would look for another library", filepath.Base(*config), c.Package, *pkg))
		}
		for _, op := range c.Ops {
			w.Ops = append(w.Ops, op.Name)
		}
	}
	r, err := Check(*lib, w)
	if err != nil {
		return fail(1, err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile(*out+".json", append(text, '\n'), 0o644)
	}
	if err == nil {
		err = os.WriteFile(*out+".txt", []byte(r.Text()), 0o644)
	}
	if err != nil {
		return fail(1, err)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(stderr, "%s for %s: %s\n", r.Library, r.Target, p)
	}
	if len(r.Problems) > 0 {
		return 1
	}
	return 0
}

// largest is how many symbols Text names.
const largest = 15

// Text is the report for people.
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
