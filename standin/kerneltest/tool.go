package kerneltest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ToolName and ToolVersion name the built-in tool. The version changes when what it finds in the same input does.
const (
	ToolName    = "kernel-test"
	ToolVersion = "1"
)

// Tool is `hexmage tool kernel-test`: it runs cases for an arch and writes what came of them. Its exit code is 0, 1 when an op
// does not do what its reference does, 2 for wrong arguments.
func Tool(ctx context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet(ToolName, flag.ContinueOnError)
	flags.SetOutput(stderr)
	cases := flags.String("cases", "", "the cases, a JSON `file`")
	arch := flags.String("arch", "", "Hexagon `arch`, such as v79")
	library := flags.String("library", "", "the op package for the arch, a `file`")
	shell := flags.String("shell", "", "the DSP's first program, a `file`")
	reference := flags.String("reference", "", "the program with the reference branches, a `file`")
	qemu := flags.String("qemu", "", "`folder` with qemu-hexagon-static and qemu-aarch64-static")
	out := flags.String("out", "", "`file` for the results: .json and .txt are appended")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", ToolName, err)
		return code
	}
	if *cases == "" || *arch == "" || *library == "" || *shell == "" || *reference == "" || *qemu == "" || *out == "" {
		return fail(2, fmt.Errorf("all flags are needed"))
	}
	data, err := os.ReadFile(*cases)
	if err != nil {
		return fail(1, err)
	}
	var list []Case
	if err := json.Unmarshal(data, &list); err != nil {
		return fail(1, fmt.Errorf("%s: %w", *cases, err))
	}
	m := Machines{QemuHexagon: filepath.Join(*qemu, "qemu-hexagon-static"), QemuAArch64: filepath.Join(*qemu, "qemu-aarch64-static"),
		Shell: *shell, Library: *library, Reference: *reference, Arch: *arch}
	for _, p := range []*string{&m.QemuHexagon, &m.QemuAArch64, &m.Shell, &m.Library, &m.Reference} {
		if *p, err = filepath.Abs(*p); err != nil {
			return fail(1, err)
		}
	}
	results, err := Run(ctx, m, list)
	if err != nil {
		return fail(1, err)
	}
	if err := write(*out, results); err != nil {
		return fail(1, err)
	}
	bad := 0
	for _, r := range results {
		if !r.OK() {
			fmt.Fprintln(stderr, r)
			bad++
		}
	}
	if bad > 0 {
		fmt.Fprintf(stderr, "%d of %d kernel tests failed on %s\n", bad, len(results), *arch)
		return 1
	}
	return 0
}

func write(out string, results []Result) error {
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, r := range results {
		fmt.Fprintln(&lines, r)
	}
	if err := os.WriteFile(out+".json", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out+".txt", lines.Bytes(), 0o644)
}
