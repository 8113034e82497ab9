package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// edit is a change of the workspace, or of the command, or both.
type edit struct {
	name  string
	do    func(w *world) error
	args  func(p pipeline) []string
	env   func(p pipeline) string
	stops bool // the run stops at a failure: which independent actions have begun is not compared
}

func keepGoing(pipeline) []string { return []string{"-k"} }

// edits are applied to each pipeline. After each the workspace is restored, and both programs run again.
func edits() []edit {
	return []edit{
		{name: "nothing"},
		{name: "source touched", do: func(w *world) error {
			return os.Chtimes(w.file(w.source), time.Time{}, time.Now())
		}},
		{name: "source rewritten as it is", do: func(w *world) error { return replace(w.file(w.source), nil) }},
		{name: "comment in source", do: func(w *world) error { return w.apply(w.comment(w.source)) }},
		{name: "source changed, its size and time kept", do: func(w *world) error {
			st, err := os.Stat(w.file(w.source))
			if err != nil {
				return err
			}
			return errors.Join(w.apply(w.changed.of(w.source)), os.Chtimes(w.file(w.source), time.Time{}, st.ModTime()))
		}},
		{name: "source changed", do: func(w *world) error { return w.apply(w.changed.of(w.source)) }},
		{name: "comment in header", do: func(w *world) error { return w.apply(w.comment(w.header.file)) }},
		{name: "header changed", do: func(w *world) error { return w.apply(w.header) }},
		{name: "source broken, -k", do: func(w *world) error { return w.apply(w.broken.of(w.source)) },
			args: keepGoing},
		{name: "source broken", do: func(w *world) error { return w.apply(w.broken.of(w.source)) }, stops: true},
		{name: "source removed, -k", do: func(w *world) error { return os.Remove(w.file(w.source)) }, args: keepGoing},
		{name: "source executable", do: func(w *world) error { return os.Chmod(w.file(w.source), 0o755) }},
		{name: "source unreadable", do: func(w *world) error { return os.Chmod(w.file(w.source), 0) }, args: keepGoing},
		{name: "source is a link", do: func(w *world) error {
			moved := w.file("moved")
			target, err := filepath.Rel(filepath.Dir(w.file(w.source)), moved)
			return errors.Join(err, os.Rename(w.file(w.source), moved), os.Symlink(target, w.file(w.source)))
		}, args: keepGoing},
		{name: "source is a broken link", do: func(w *world) error {
			return errors.Join(os.Remove(w.file(w.source)), os.Symlink("nothing", w.file(w.source)))
		}, args: keepGoing},
		{name: "file added beside source", do: func(w *world) error {
			return os.WriteFile(filepath.Join(filepath.Dir(w.file(w.source)), "NOTES"), []byte("a note\n"), 0o644)
		}},
		{name: "comment in HCL", do: func(w *world) error { return w.apply(change{w.hcl, "", "# a comment\n"}) }},
		{name: "HCL constant changed", do: func(w *world) error { return w.apply(w.constant.of(w.hcl)) }},
		{name: "HCL broken", do: func(w *world) error { return w.apply(change{w.hcl, "", "step {\n"}) }},
		{name: "step renamed", do: func(w *world) error {
			kind, name := w.step.old, w.step.new
			return errors.Join(w.apply(change{w.hcl, `"` + kind + `" "` + name + `"`, `"` + kind + `" "other"`}),
				w.apply(change{w.hcl, "step." + kind + "." + name, "step." + kind + ".other"}))
		}},
		{name: "item added", do: func(w *world) error { return w.apply(w.more) }},
		{name: "item removed", do: func(w *world) error { return w.apply(w.fewer) }},
		{name: "--var", args: func(p pipeline) []string { return []string{"--var", p.variable} }},
		{name: "HEXMAGE_VAR", env: func(p pipeline) string { return "HEXMAGE_VAR_" + p.variable }},
		{name: "output removed", do: func(w *world) error { return os.Remove(w.out()) }},
		{name: "output changed", do: func(w *world) error { return replace(w.out(), []byte("by hand\n")) }},
		{name: "output executable or not", do: func(w *world) error {
			st, err := os.Stat(w.out())
			if err != nil {
				return err
			}
			return os.Chmod(w.out(), st.Mode().Perm()^0o111)
		}},
		{name: "cached output lost", do: lose},
		{name: "--fresh", args: func(p pipeline) []string { return []string{"--fresh=" + p.again} }},
		{name: "source and HCL changed, out/ removed", do: func(w *world) error {
			err := errors.Join(w.apply(w.changed.of(w.source)), w.apply(w.constant.of(w.hcl)))
			return errors.Join(err, os.RemoveAll(filepath.Join(w.dir, "out")))
		}},
	}
}

// replace replaces a file by a new one; without content, by an equal one.
func replace(at string, content []byte) error {
	st, err := os.Stat(at)
	if err != nil {
		return err
	}
	if content == nil {
		if content, err = os.ReadFile(at); err != nil {
			return err
		}
	}
	return errors.Join(os.WriteFile(at+".tmp", content, st.Mode().Perm()), os.Rename(at+".tmp", at))
}

// lose removes an output, and each file of the cache that has the same content.
func lose(w *world) error {
	content, err := os.ReadFile(w.out())
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(w.out()), filepath.WalkDir(w.cache, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err != nil || st.Size() != int64(len(content)) {
			return err
		}
		b, err := os.ReadFile(at)
		if err == nil && bytes.Equal(b, content) {
			err = os.Remove(at)
		}
		return err
	}))
}

// comment appends a comment in the language of the sources.
func (p pipeline) comment(file string) change {
	mark := "#"
	if ext := filepath.Ext(p.source); strings.HasPrefix(ext, ".c") {
		mark = "//"
	}
	return change{file, "", mark + " a comment\n"}
}
