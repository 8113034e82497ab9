package inspect

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Run is the tool "inspect": it describes the FILEs, as text or with --json as one JSON object per line. Exit codes: 0 ok, 1 failed, 2 usage.
func Run(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("inspect", flag.ContinueOnError)
	fs.SetOutput(stderr)
	asJSON := fs.Bool("json", false, "print JSON")
	var files []string
	for rest := args; len(rest) > 0; { // flags may follow files
		if err := fs.Parse(rest); err != nil {
			return 2
		}
		rest = fs.Args()
		if len(rest) > 0 {
			files, rest = append(files, rest[0]), rest[1:]
		}
	}
	if len(files) == 0 {
		fmt.Fprintln(stderr, "inspect: which FILE?")
		return 2
	}
	code := 0
	for _, path := range files {
		d, err := Describe(path)
		if err == nil {
			err = write(stdout, d, *asJSON)
		}
		if err != nil {
			fmt.Fprintf(stderr, "inspect: %v\n", err)
			code = 1
		}
	}
	return code
}

func write(w io.Writer, d Description, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(d)
	}
	_, err := io.WriteString(w, d.String())
	return err
}

// String is a description for people.
func (d Description) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d bytes\n", d.Path, d.Format, d.Size)
	line := func(name string, v any) {
		if s := fmt.Sprint(v); s != "" && s != "[]" && s != "0" {
			fmt.Fprintf(&b, "  %-14s %s\n", name, s)
		}
	}
	if e := d.ELF; e != nil {
		line("machine", fmt.Sprintf("%s %s %s", e.Machine, e.Class, e.Type))
		line("flags", fmt.Sprintf("%#x", e.Flags))
		line("arch", e.Arch)
		line("soname", e.SOName)
		line("needed", strings.Join(e.Needed, " "))
		line("qnn build ids", strings.Join(e.BuildIDs, " "))
		line("gnu build id", e.GNUID)
	}
	if c := d.Context; c != nil {
		line("build id", c.BuildID)
		line("arch", fmt.Sprintf("v%d", c.Arch))
		line("soc", fmt.Sprintf("%s (model %d)", c.SoC, c.SoCModel))
		line("vtcm bytes", c.VTCM)
		line("core api", c.CoreAPI)
		line("backend api", c.BackendAPI)
		line("profile", map[bool]string{true: "open", false: ""}[c.Open])
		for _, g := range c.Graphs {
			line("graph", fmt.Sprintf("%s: %d tokens, %d ops", g.Name, g.Tokens, g.Ops))
		}
	}
	if t := d.Tensors; t != nil {
		line("model name", t.ModelName)
		line("tensors", t.Count)
		for _, x := range t.Warnings {
			line("warning", x)
		}
		for _, x := range t.List {
			fmt.Fprintf(&b, "  %-10s %-18s %10d  %s\n", x.DType, strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ","), x.Size, x.Name)
		}
	}
	return b.String()
}
