// Command hexmage-bench measures hexmage against the budgets of docs/performance.md.
//
// It starts hexmage and its peers as programs, as users do, and does not know hexmage's internals.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the benchmark. After an error its methods do nothing.
type bench struct {
	err        error
	hexmage    string // the binary
	dir        string // scratch folder on the measured file system, with a copy of the folder workspace
	env        []string
	out        io.Writer
	json, over bool          // over: a budget is exceeded
	age        time.Duration // age of files that hexmage no longer hashes in each run
	fetch      func(ctx context.Context, peer string) (folder string, err error)

	few, many, results int // actions, and results in the remote cache
	files, fileSize    int // number and bytes of large sources
	rounds, noOps      int
}

// main exits with 1 if a budget is exceeded, and with 2 after an error.
func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	b := &bench{
		env: os.Environ(), out: os.Stdout, age: 2500 * time.Millisecond,
		few: 1000, many: 10_000, results: 2000, files: 8, fileSize: 256e6, rounds: 5, noOps: 10,
	}
	b.hexmage, b.err = filepath.Abs("bin/hexmage")
	b.fetch = b.fetchPeer
	only := flag.String("only", "pipeline,actions,files,remote",
		"measure only these `SCENARIOS`, separated by commas")
	flag.StringVar(&b.dir, "dir", "/var/tmp", "measure in `FOLDER`, which needs 12 GB of free space")
	flag.BoolVar(&b.json, "json", false, "print one JSON object per line")
	flag.Parse()
	b.run(ctx, *only)
	if b.err != nil {
		fmt.Fprintln(os.Stderr, "bench:", b.err)
		os.Exit(2)
	}
	if b.over {
		os.Exit(1)
	}
}

// run measures scenarios.
func (b *bench) run(ctx context.Context, only string) {
	dir, err := os.MkdirTemp(b.dir, "hexmage-bench-")
	if b.fail(err); err != nil {
		return
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	b.fail(os.CopyFS(dir, embedded))
	busybox, err := b.fetch(ctx, "busybox")
	b.fail(err)
	b.must(ctx, b.shell(dir+"/workspace", "", "mkdir tools; cp "+busybox+"/bin/busybox tools"))
	scenarios := map[string]func(ctx context.Context, dir string){
		"pipeline": b.measurePipeline, "actions": b.measureActions, "files": b.measureFiles,
		"remote": b.measureRemote,
	}
	for name := range strings.SplitSeq(only, ",") {
		if measure := scenarios[name]; measure != nil {
			measure(ctx, filepath.Join(dir, name))
		} else {
			b.fail(fmt.Errorf("unknown scenario %q", name))
		}
		b.must(ctx, b.shell(dir, "", "rm -rf "+name))
	}
}

// fail keeps the first error.
func (b *bench) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

//go:embed workspace
var embedded embed.FS

// fetchPeer fetches a program with hexmage and returns its folder.
func (b *bench) fetchPeer(ctx context.Context, name string) (string, error) {
	s, err := program{[]string{b.hexmage, "toolchain", "fetch", name}, b.dir + "/workspace", b.env}.run(ctx)
	lines := strings.Split(strings.TrimSpace(s.output), "\n")
	_, folder, _ := strings.Cut(lines[len(lines)-1], ": ") // NAME VERSION: FOLDER
	return folder, err
}

// command returns hexmage in a workspace. The user's settings do not affect it.
func (b *bench) command(workspace, cache string, args ...string) program {
	env := slices.DeleteFunc(slices.Clone(b.env), func(v string) bool { return strings.HasPrefix(v, "HEXMAGE_") })
	env = append(env, "HEXMAGE_CACHE="+cache, "HEXMAGE_REMOTE=off")
	return program{append([]string{b.hexmage}, args...), workspace, env}
}

// plain returns a program with a small environment and the libraries of a Debian package.
func (b *bench) plain(dir, root string, argv ...string) program {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + b.dir, "LC_ALL=C"}
	return program{argv, dir, append(env, "LD_LIBRARY_PATH="+filepath.Join(root, "usr/lib/x86_64-linux-gnu"))}
}

func (b *bench) shell(dir, root, script string) program {
	return b.plain(dir, root, "sh", "-ec", script)
}

// must runs a program that is not measured.
func (b *bench) must(ctx context.Context, p program) (s sample) {
	if b.err == nil && len(p.argv) > 0 {
		s, b.err = p.run(ctx)
	}
	return s
}

func (b *bench) write(path, content string) { b.fail(os.WriteFile(path, []byte(content), 0o644)) }

// settle waits until hexmage no longer hashes the files in each run.
func (b *bench) settle() {
	if b.err == nil {
		time.Sleep(b.age)
	}
}
