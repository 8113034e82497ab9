package opconfig

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// ToolName and ToolVersion name the built-in tool. The version changes when what it writes for the same input does.
const (
	ToolName    = "op-interface"
	ToolVersion = "1"
)

// Run is `hexmage tool op-interface`: it writes the interface source of a package, from its op config or, with sources as
// arguments, for the ops that these register. Its exit code is 0, 1 when something is wrong with the files, 2 for wrong arguments.
func Run(_ context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet(ToolName, flag.ContinueOnError)
	flags.SetOutput(stderr)
	pkg := flags.String("package", "", "`name` of the package")
	config := flags.String("config", "", "the op config, an XML `file`")
	out := flags.String("out", "", "`file` to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *pkg == "" || *out == "" || (*config == "") == (flags.NArg() == 0) {
		fmt.Fprintf(stderr, "%s: --package, --out and --config or sources are needed\n", ToolName)
		return 2
	}
	if err := write(*pkg, *config, flags.Args(), *out); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", ToolName, err)
		return 1
	}
	return 0
}

func write(pkg, config string, sources []string, out string) error {
	c := Config{Package: pkg}
	if config != "" {
		var err error
		if c, err = ReadFile(config); err != nil {
			return err
		}
		if c.Package != pkg {
			return fmt.Errorf("%s is the config of package %s, not %s: set the step's package, or PackageName in the config", config, c.Package, pkg)
		}
	}
	for _, s := range sources {
		text, err := os.ReadFile(s)
		if err != nil {
			return err
		}
		ops := Registered(text)
		if len(ops) == 0 {
			return fmt.Errorf("%s registers no op: it has no BEGIN_PKG_OP_DEFINITION", s)
		}
		c.Ops = append(c.Ops, ops...)
	}
	var text bytes.Buffer
	if err := Interface(&text, c); err != nil {
		return err
	}
	return os.WriteFile(out, text.Bytes(), 0o644)
}

// ReadFile reads a config file.
func ReadFile(file string) (Config, error) {
	f, err := os.Open(file)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	c, err := Read(f)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// File returns which of a package's files is its op config for HTP: the one in config/, or of several the one whose name
// says HTP. "" is none; several that could be it are an error.
func File(files []string) (string, error) {
	var all, htp []string
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f, "config/"); ok && !strings.Contains(rest, "/") && strings.HasSuffix(rest, ".xml") {
			all = append(all, f)
			if strings.Contains(strings.ToLower(rest), "htp") {
				htp = append(htp, f)
			}
		}
	}
	if len(htp) > 0 {
		all = htp
	}
	switch len(all) {
	case 0:
		return "", nil
	case 1:
		return all[0], nil
	}
	return "", fmt.Errorf("any of %s could be the op config: say which (config = \"%s\")", strings.Join(all, ", "), all[0])
}
