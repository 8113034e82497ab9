package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/store/layout"
)

// world is a workspace, a home and a cache of one side.
type world struct {
	pipeline
	side
	base, dir, start, home, cache string // start: the workspace as it was
	exit                          int
}

// newWorld makes the workspace of a pipeline from the side's own tree, in the side's own words.
func newWorld(base, downloads string, p pipeline, s side) (*world, error) {
	w := &world{pipeline: p, side: s, base: base, dir: filepath.Join(base, "ws"), start: filepath.Join(base, "start"),
		home: filepath.Join(base, "home"), cache: filepath.Join(base, "cache")}
	for _, dir := range []string{w.home, w.cache, w.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	for from, to := range p.folders {
		if err := os.CopyFS(w.file(to), os.DirFS(filepath.Join(s.tree, s.words.Replace(from)))); err != nil {
			return nil, err
		}
	}
	for name, text := range p.files {
		err := os.MkdirAll(filepath.Dir(w.file(name)), 0o755)
		if err == nil {
			err = w.apply(change{name, "", text})
		}
		if err != nil {
			return nil, err
		}
	}
	for _, c := range p.prepare {
		if err := w.apply(c); err != nil {
			return nil, err
		}
	}
	if err := os.CopyFS(w.start, os.DirFS(w.dir)); err != nil {
		return nil, err
	}
	return w, link(downloads, layout.In(w.cache).Downloads())
}

// file returns the path of a file of the workspace, out that of an output.
func (w *world) file(name string) string { return filepath.Join(w.dir, w.words.Replace(name)) }
func (w *world) out() string             { return filepath.Join(w.dir, "out", w.words.Replace(w.output)) }

// apply applies a change, in the side's words.
func (w *world) apply(c change) error {
	old, text := w.words.Replace(c.old), w.words.Replace(c.new)
	b, err := os.ReadFile(w.file(c.file))
	if err != nil && !(old == "" && errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if old == "" {
		b = append(b, text...)
	} else if !bytes.Contains(b, []byte(old)) {
		return fmt.Errorf("%s: no %q", c.file, old)
	} else {
		b = bytes.ReplaceAll(b, []byte(old), []byte(text))
	}
	return os.WriteFile(w.file(c.file), b, 0o644)
}

// restore puts the workspace's own files back, and leaves out/ to the program.
func (w *world) restore() error {
	now, err := read(w.dir, "", "out")
	if err != nil {
		return err
	}
	start, err := read(w.start, "", "")
	if err != nil {
		return err
	}
	names := maps.Clone(now)
	maps.Copy(names, start)
	for _, name := range slices.Sorted(maps.Keys(names)) { // a folder before its files
		if now[name] == start[name] {
			continue
		}
		err := os.RemoveAll(filepath.Join(w.dir, name))
		if _, ok := start[name]; ok && err == nil {
			err = command("cp", "-a", filepath.Join(w.start, name), filepath.Join(w.dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// facts are what a run did, in the words of the new side.
type facts struct {
	exit                    int
	actions, checks, output map[string]string // outcomes of actions, results of checks, modes and contents in out/
	stderr                  string
}

func (f facts) count(outcome string) (n int) {
	for _, o := range f.actions {
		if o == outcome {
			n++
		}
	}
	return n
}

// run runs the pipeline.
func (w *world) run(ctx context.Context, e edit, plant bool) (facts, error) {
	args := append([]string{"--json", "run", w.pipeline.name}, w.flags...)
	if e.name != "cold" {
		args = append(args, "--offline")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(w.bin, "hexmage"))
	cmd.Env = []string{"HOME=" + w.home, "HEXMAGE_CACHE=" + w.cache}
	for _, name := range strings.Fields("PATH TMPDIR http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY") {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	if e.args != nil {
		args = append(args, e.args(w.pipeline)...)
	}
	if e.env != nil {
		cmd.Env = append(cmd.Env, e.env(w.pipeline))
	}
	for _, a := range args {
		cmd.Args = append(cmd.Args, w.words.Replace(a))
	}
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return facts{}, err
	}
	w.exit = cmd.ProcessState.ExitCode()
	f := facts{w.exit, map[string]string{}, map[string]string{}, nil, stderr.String()}
	forward := w.forward.Replace
	for line := range strings.Lines(stdout.String()) {
		var l struct{ Event, Step, Name, Outcome, Result string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return f, fmt.Errorf("event %q: %w", line, err)
		}
		switch l.Event {
		case w.words.Replace("node_finished"):
			f.actions[forward(l.Step+" "+l.Name)] = forward(l.Outcome)
		case "check_finished":
			f.checks[forward(l.Step+" "+l.Name)] = forward(l.Result)
		case "diagnostic", "error":
			f.stderr += line
		}
	}
	if plant {
		b, err := os.ReadFile(w.out())
		if err == nil {
			b[len(b)/2] ^= 1
			err = replace(w.out(), b)
		}
		if err != nil {
			return f, err
		}
	}
	all, err := read(filepath.Join(w.dir, "out"), w.base, "")
	f.output = map[string]string{}
	for name, is := range all {
		if measured(w.pipeline, name) {
			is = "a report"
		}
		f.output[forward(name)] = is
	}
	return f, err
}

// differences compares two runs. Of a run that stops at a failure, which other actions had begun is a matter of time.
func differences(old, new facts, stops bool) (lines []string) {
	if old.exit != new.exit {
		text := fmt.Sprintf("exit code %d, was %d:\nold: %.2000s\nnew: %.2000s", new.exit, old.exit, old.stderr,
			new.stderr)
		lines = append(lines, text)
	}
	diff := func(what string, old, new map[string]string) {
		names := maps.Clone(old)
		maps.Copy(names, new)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if old[name] != new[name] {
				lines = append(lines, fmt.Sprintf("%s %s: %q, was %q", what, name, new[name], old[name]))
			}
		}
	}
	if !stops {
		diff("action", old.actions, new.actions)
	}
	diff("check", old.checks, new.checks)
	diff("output", old.output, new.output)
	return lines
}

// read describes each file below a folder: its mode, and its link or a digest of its content. ROOT replaces root.
func read(dir, root, except string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, at)
		if name == except {
			return filepath.SkipDir
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		is := st.Mode().String()
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			is += " " + target
		case d.Type().IsRegular():
			b, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			if root != "" {
				b = bytes.ReplaceAll(b, []byte(root), []byte("ROOT"))
			}
			is += fmt.Sprintf(" %d bytes, %x", len(b), sha256.Sum256(b))
		}
		files[filepath.ToSlash(name)] = is
		return nil
	})
	return files, err
}

// measured reports whether a file in out/ is a report, whose content is not compared.
func measured(p pipeline, name string) bool {
	for report := range p.reports {
		if ok, _ := path.Match(p.name+"/"+report, name); ok || strings.HasPrefix(name, p.name+"/"+report+"/") {
			return true
		}
	}
	return false
}

// link links the files below a folder into another one. It does nothing if there is no folder.
func link(from, to string) error {
	return command("sh", "-ec", `[ ! -d "$1" ] || { mkdir -p "$2"; cp -rlf "$1/." "$2"; }`, "sh", from, to)
}

// remove removes a folder that holds folders without write permission.
func remove(dir string) error {
	return command("sh", "-ec", `[ ! -d "$1" ] || { chmod -R u+w "$1"; rm -rf "$1"; }`, "sh", dir)
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, args, err, out)
	}
	return nil
}
