package kerneltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the tool's name, and its behaviour version: it changes when what it finds in the same input does.
const Tool tool.Name[Spec] = "kernel-test/2"

// Spec says what to test.
type Spec struct {
	Cases     []Case `json:"cases"`
	Arch      string `json:"arch"`      // Hexagon arch, such as v79
	Code      Code   `json:"code"`      // the op package for the arch
	Shell     string `json:"shell"`     // the DSP's first program
	Reference string `json:"reference"` // the program with the reference branches
	Qemu      string `json:"qemu"`      // folder with qemu-hexagon-static and qemu-aarch64-static
	Out       string `json:"out"`       // file for the results: .json and .txt are appended
}

// RunTool is the tool: it runs cases for an arch and writes what came of them.
func RunTool(ctx context.Context, s Spec, env tool.Env) error {
	m := Machines{QemuHexagon: filepath.Join(s.Qemu, "qemu-hexagon-static"), QemuAArch64: filepath.Join(s.Qemu, "qemu-aarch64-static"),
		Shell: s.Shell, Library: s.Code.Library, Reference: s.Reference, Arch: s.Arch, HVX: s.Code.HVX}
	for _, p := range []*string{&m.QemuHexagon, &m.QemuAArch64, &m.Shell, &m.Library, &m.Reference} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	var err error
	if m.Ops, err = opsOf(s.Code); err != nil {
		return err
	}
	results, err := Run(ctx, m, s.Cases)
	if err != nil {
		return err
	}
	for i, o := range m.Ops {
		m.Ops[i].Ran = slices.ContainsFunc(results, func(r Result) bool { return r.Op == o.Name && r.Failed == "" })
	}
	if err := write(s.Out, Report{Ops: m.Ops, Results: results}); err != nil {
		return err
	}
	bad := 0
	for _, r := range results {
		if !r.OK() {
			fmt.Fprintln(env.Stderr, r)
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	fmt.Fprintf(env.Stderr, "%d of %d kernel tests failed on %s\n", bad, len(results), s.Arch)
	return tool.ErrSaid
}

// Report is what Out.json holds.
type Report struct {
	Ops     []Op     `json:"ops"`
	Results []Result `json:"results"`
}

func write(out string, r Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, r := range r.Results {
		fmt.Fprintln(&lines, r)
	}
	for _, o := range r.Ops {
		fmt.Fprintln(&lines, o)
	}
	if err := os.WriteFile(out+".json", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out+".txt", lines.Bytes(), 0o644)
}
