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
	"syscall"
	"time"
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
	w := &world{p, s, base, filepath.Join(base, "ws"), filepath.Join(base, "start"), filepath.Join(base, "home"), filepath.Join(base, "cache"), 0}
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(w.file(name)), 0o755), os.WriteFile(w.file(name), []byte(s.words.Replace(text)), 0o644)); err != nil {
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
	if _, err := os.Stat(downloads); err != nil {
		return w, os.MkdirAll(downloads, 0o755)
	}
	return w, link(downloads, filepath.Join(w.cache, s.words.Replace("downloads")))
}

// file returns the path of a file of the workspace, out that of an output.
func (w *world) file(name string) string { return filepath.Join(w.dir, w.words.Replace(name)) }
func (w *world) out() string             { return filepath.Join(w.dir, "out", w.words.Replace(w.output)) }

// change is an edit of a text: each old becomes new.
type change struct{ file, old, new string }

// apply applies a change. An empty old appends, also to a file that does not exist yet.
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
	for name := range now {
		if now[name] != start[name] && name != "." {
			if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
				return err
			}
			delete(now, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(start)) { // a folder before what it holds
		if _, ok := now[name]; ok {
			continue
		}
		from, to := filepath.Join(w.start, name), filepath.Join(w.dir, name)
		st, err := os.Stat(from)
		if err == nil && st.IsDir() {
			err = os.Mkdir(to, st.Mode().Perm())
		} else if err == nil {
			var b []byte
			if b, err = os.ReadFile(from); err == nil {
				err = errors.Join(os.WriteFile(to, b, 0o600), os.Chmod(to, st.Mode().Perm()))
			}
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
	actions, checks, output map[string]string // outcome of each action; result of each check; mode and content of each file in out/
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
	args := []string{"--json", "run", w.pipeline.name}
	if e.name != "cold" {
		args = append(args, "--offline")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(w.bin, "hexmage"))
	cmd.Env = []string{"HOME=" + w.home, "HEXMAGE_CACHE=" + w.cache}
	for _, name := range []string{"PATH", "TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
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
			err = errors.Join(os.Remove(w.out()), os.WriteFile(w.out(), b, 0o644))
		}
		if err != nil {
			return f, err
		}
	}
	all, err := read(filepath.Join(w.dir, "out"), w.base, "")
	f.output = map[string]string{}
	for name, is := range all {
		if !excluded(w.pipeline, name) {
			f.output[forward(name)] = is
		}
	}
	return f, err
}

// differences compares two runs. Of a run that stops at a failure, which other actions had begun is a matter of time.
func differences(old, new facts, stops bool) (lines []string) {
	if old.exit != new.exit {
		lines = append(lines, fmt.Sprintf("exit code %d, was %d:\nold: %.2000s\nnew: %.2000s", new.exit, old.exit, old.stderr, new.stderr))
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

// read describes each file below a folder: its mode, and its link or a digest of its content, in which root has a name of its own.
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

// excluded reports whether a file in out/ is a report that names a time or a measurement.
func excluded(p pipeline, name string) bool {
	for report := range p.reports {
		if ok, _ := path.Match(p.name+"/"+report, name); ok || strings.HasPrefix(name, p.name+"/"+report+"/") {
			return true
		}
	}
	return false
}

// link links the files below a folder into another one. What is there stays.
func link(from, to string) error {
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a pipeline without downloads
		}
		rel, relErr := filepath.Rel(from, at)
		if err = errors.Join(err, relErr); err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if err := os.Link(at, filepath.Join(to, rel)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// remove removes a folder that holds folders without write permission.
func remove(dir string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
