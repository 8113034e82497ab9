package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Main is the command: it finds the programs, measures, and prints the report. It returns the exit code: 1 if outputs
// were wrong, not if a budget was missed. Env is what hexmage gets when it fetches the programs to measure.
func Main(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("hexmage-bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	o := Options{Log: stderr, Env: env}
	quick := fs.Bool("quick", false, "only 1,000 actions, a short chain and small files: under a minute")
	only := fs.String("only", "", "only these, with commas between: names of graphs or how they begin, such as wide-1000, large and watch")
	doc := fs.String("o", "", "also put the report between the marks of this document")
	mainPipeline := fs.String("main", "", "also measure the no-op of this pipeline, in the working directory and with the user's cache")
	fs.StringVar(&o.Hexmage, "hexmage", "bin/hexmage", "the binary")
	fs.StringVar(&o.Dir, "dir", "", "measure on this folder's file system (default: /var/tmp)")
	fs.StringVar(&o.Profiles, "profiles", "", "keep CPU and memory profiles of hexmage in this folder")
	fs.IntVar(&o.Jobs, "j", 0, "jobs of every tool (default: one a processor)")
	fs.IntVar(&o.Repeat, "n", 3, "cold builds of each graph by each tool, at least")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	o.Graphs, o.Large, o.Examples = []Graph{Wide(1000), Chain(500), Wide(10000), Layered(20, 500)}, 256<<20, []string{"examples/hello"}
	o.Budget = 15 * time.Second
	if *quick {
		o.Graphs, o.Large, o.Repeat, o.Budget = []Graph{Wide(1000), Chain(100)}, 16<<20, min(o.Repeat, 2), 0
	}
	if *only != "" {
		if err := o.keep(*only); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 2
		}
	}
	o.Main = *mainPipeline
	if err := run(ctx, o, *doc, "go tool mage bench", args, stdout); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// keep leaves only what is named: names of graphs, or how they begin, "large" and "watch", with commas between.
func (o *Options) keep(names string) error {
	all := o.Graphs
	wanted := func(name string) bool {
		return slices.ContainsFunc(strings.Split(names, ","), func(n string) bool { return n != "" && strings.HasPrefix(name, n) })
	}
	o.Graphs = nil
	var known []string
	for _, g := range all {
		name := strings.ReplaceAll(g.Name, " ", "-")
		if known = append(known, name); wanted(name) {
			o.Graphs = append(o.Graphs, g)
		}
	}
	o.Examples = nil
	if !wanted("large") {
		o.Large = 0
	}
	if o.noWatch = !wanted("watch"); len(o.Graphs) == 0 && o.Large == 0 && o.noWatch {
		return fmt.Errorf("-only %s: there are %s, large and watch", names, strings.Join(known, ", "))
	}
	return nil
}

func run(ctx context.Context, o Options, doc, command string, args []string, stdout io.Writer) error {
	var err error
	if o.Hexmage, err = filepath.Abs(o.Hexmage); err != nil {
		return err
	}
	if o.Dir == "" {
		o.Dir = "/var/tmp" // /tmp may be memory, where people don't build, and is where all others make and remove files
		if _, err := os.Stat(o.Dir); err != nil {
			o.Dir = os.TempDir()
		}
	}
	if err := o.programs(ctx); err != nil {
		return fmt.Errorf("the programs to measure: %w", err)
	}
	r, err := Run(ctx, o)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		command = fmt.Sprintf("HEXMAGE_BENCH=%q %s", strings.Join(args, " "), command)
	}
	text := r.Markdown(command)
	if _, err := io.WriteString(stdout, text); err != nil {
		return err
	}
	if doc != "" {
		old, err := os.ReadFile(doc)
		if err != nil {
			return err
		}
		b, err := Insert(old, text)
		if err != nil {
			return fmt.Errorf("%s: %w", doc, err)
		}
		if err := os.WriteFile(doc, b, 0o644); err != nil {
			return err
		}
	}
	if p := r.Problems(); len(p) > 0 {
		return fmt.Errorf("%d results are wrong: see the report", len(p))
	}
	return nil
}

// programs finds ninja, make and a compiler: hexmage itself fetches what is in its catalogue, into the user's cache.
func (o *Options) programs(ctx context.Context) error {
	names := []string{"ninja", "make"}
	if !o.noWatch {
		names = append(names, "entr")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		names = append(names, "llvm")
	}
	dir, err := os.MkdirTemp(o.Dir, "hexmage-bench-tools-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text := header
	for _, n := range names {
		text += fmt.Sprintf("toolchain %q {}\noutput %[1]q { value = toolchain.%[1]s.dir }\n", n)
	}
	if err := os.Mkdir(filepath.Join(dir, "pipelines"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "pipelines", "tools.hcl"), []byte(text), 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, o.Hexmage, "env", "tools", "--json")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, o.Env, o.Log
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("hexmage env: %w", err)
	}
	var vars map[string]string
	if err := json.Unmarshal(out, &vars); err != nil {
		return fmt.Errorf("hexmage env: %w", err)
	}
	root := func(name string) string { return vars["HEXMAGE_TOOLCHAIN_"+strings.ToUpper(name)] }
	o.Ninja, o.Make = filepath.Join(root("ninja"), "usr/bin/ninja"), filepath.Join(root("make"), "usr/bin/make")
	if !o.noWatch {
		o.Entr, o.EntrEnv = filepath.Join(root("entr"), "usr/bin/entr"), []string{"LD_LIBRARY_PATH=" + filepath.Join(root("entr"), "usr/lib/x86_64-linux-gnu")}
	}
	o.CC = Compiler{Program: cc}
	if cc == "" {
		o.CC = Clang(root("llvm"))
	}
	return nil
}

// Clang is the compiler of the catalogue's llvm, unpacked at root.
func Clang(root string) Compiler {
	return Compiler{Program: filepath.Join(root, "usr/bin/clang-22"), Args: []string{"--ld-path=" + filepath.Join(root, "usr/bin/ld.lld-22")}, Freestanding: true}
}
