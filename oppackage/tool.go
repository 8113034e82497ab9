package oppackage

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/srctree"
)

// ToolName and ToolVersion name the built-in tool. The version changes when what it writes for the same input does.
const (
	ToolName    = "makefile"
	ToolVersion = "3"
)

// Run is `hexmage tool makefile`: it writes a Makefile into a folder, over a copy of the package's sources if --source is
// given. Its exit code is 0, 1 when something could not be read or written, 2 for wrong arguments.
func Run(ctx context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet("makefile", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("package", "", "`name` of the op package; with --source the default is what its interface source is named after")
	targets := flags.String("targets", "", "`targets` with commas between them: htp_aarch64,htp_v79; default: all")
	hvx := flags.String("hvx", "", "HVX version or compiler `flags`; default: "+DefaultHVX)
	source := flags.String("source", "", "`folder` of the op package, copied to --out")
	extras := flags.String("extras", "", "the package's own flags, as `JSON`; without --source, whole paths of sources in them")
	out := flags.String("out", "", "`folder` to write to; it must be empty or not exist")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "makefile: %v\n", err)
		return code
	}
	if flags.NArg() > 0 || *out == "" || *source == "" && *name == "" {
		return fail(2, fmt.Errorf("--out and --package or --source are needed, and nothing else but flags"))
	}
	arches, err := Arches()
	if err == nil && *targets != "" {
		arches, err = Select(strings.Split(*targets, ","))
	}
	if err != nil {
		return fail(2, err)
	}
	var tree *srctree.Tree
	var files []string
	if *source != "" {
		root, err := os.OpenRoot(*source)
		if err != nil {
			return fail(1, err)
		}
		defer root.Close()
		tree = srctree.New(root.FS())
		if err := tree.Walk(func(f string) error { files = append(files, f); return nil }); err != nil {
			return fail(1, err)
		}
		if *name, err = FindName(*name, files); err != nil {
			return fail(1, err)
		}
	}
	p := Package{Name: *name, HVX: HVXFlags(*hvx), Files: files}
	if *extras != "" {
		if err := json.Unmarshal([]byte(*extras), &p.Extras); err != nil {
			return fail(2, fmt.Errorf("--extras: %w", err))
		}
		for _, e := range p.Extras {
			if tree == nil {
				p.Files = append(p.Files, e.Sources...)
			}
		}
	}
	var text bytes.Buffer
	if err := Makefile(&text, p, arches); err != nil {
		return fail(2, err)
	}
	if tree == nil {
		if err := os.MkdirAll(*out, 0o755); err != nil {
			return fail(1, err)
		}
		if err := os.WriteFile(path.Join(*out, "Makefile"), text.Bytes(), 0o644); err != nil {
			return fail(1, err)
		}
		return 0
	}
	if err := tree.Put("Makefile", text.Bytes()); err != nil {
		return fail(1, err)
	}
	if err := tree.CopyTo(ctx, *out); err != nil {
		return fail(1, err)
	}
	return 0
}

// HVXFlags spells an HVX version, such as "v66", as compiler flags. Flags stay as they are, and "" is the default.
func HVXFlags(hvx string) string {
	switch {
	case hvx == "":
		return DefaultHVX
	case strings.HasPrefix(hvx, "-"):
		return hvx
	}
	return "-mhvx=" + hvx
}

// CheckHVX refuses what is neither an HVX version that compilers know, nor compiler flags, nor "".
func CheckHVX(hvx string) error {
	known := []string{"v60", "v62", "v65", "v66", "v67", "v68", "v69", "v71", "v73", "v75", "v79", "v81"}
	if hvx == "" || strings.HasPrefix(hvx, "-") || slices.Contains(known, hvx) {
		return nil
	}
	return fmt.Errorf("there is no HVX version %q; there is %s; anything else is written as a compiler flag: \"-mhvx=%s\"", hvx, strings.Join(known, ", "), hvx)
}

// FindName returns the package's name: the one given, else what src/<name>Interface.cpp is named after.
func FindName(given string, files []string) (string, error) {
	if given != "" {
		return given, ValidateName(given)
	}
	const suffix = "Interface.cpp"
	var names []string
	for _, f := range files {
		if path.Dir(f) == "src" && strings.HasSuffix(f, suffix) {
			names = append(names, strings.TrimSuffix(path.Base(f), suffix))
		}
	}
	if len(names) != 1 {
		return "", fmt.Errorf("there are %d files src/*%s to name the op package after: say its name (package = \"…\")", len(names), suffix)
	}
	return names[0], ValidateName(names[0])
}
