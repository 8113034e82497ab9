package inspect

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/model/diff"
	"github.com/hexmage/hexmage/model/onnx"
)

// Differences are what two files of one format differ in.
type Differences struct {
	A        string         `json:"a"`
	B        string         `json:"b"`
	Format   string         `json:"format"`
	Same     bool           `json:"same"`
	Sections []diff.Section `json:"sections"`
	Warnings []string       `json:"warnings,omitempty"` // what could not be compared
}

// maxFacts bounds how many facts of a file are compared that is described by facts.
const maxFacts = 1 << 20

// Compare tells in what the files at two paths differ, which are relative to dir unless they are absolute: of ONNX models node by node, of files of tensors tensor by
// tensor with their content, of others by what there is to say of them. Files of different formats are an error.
func Compare(dir, a, b string) (Differences, error) {
	one, err := place(dir, a)
	if err != nil {
		return Differences{}, err
	}
	two, err := place(dir, b)
	if err != nil {
		return Differences{}, err
	}
	d := Differences{A: a, B: b, Format: one.Format, Sections: []diff.Section{}}
	tensors := one.Tensors != nil && two.Tensors != nil
	switch {
	case one.Format == "folder" || two.Format == "folder":
		return d, errors.New("folders are not compared: name a file in each")
	case one.Format != two.Format && !tensors:
		return d, fmt.Errorf("%s is %s, and %s is %s: only files of one format are compared", a, one.Format, b, two.Format)
	case one.ONNX != nil:
		err = d.graphs(within(dir, a), within(dir, b))
	case tensors:
		if one.Format != two.Format {
			d.Format += ", " + two.Format
		}
		err = d.tensors(within(dir, a), within(dir, b), one.Tensors, two.Tensors)
	default:
		err = d.facts(one, two)
	}
	d.Sections = slices.DeleteFunc(d.Sections, func(s diff.Section) bool { return len(s.Entries) == 0 })
	d.Same = len(d.Sections) == 0 && len(d.Warnings) == 0
	return d, err
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func place(dir, path string) (Description, error) { return describe(within(dir, path), path) }

func (d *Differences) graphs(a, b string) error {
	var both [2]*onnx.Graph
	for i, path := range []string{a, b} {
		g, err := readGraph(path)
		if err != nil {
			return fmt.Errorf("%s: %w", []string{d.A, d.B}[i], err)
		}
		for _, w := range g.Warnings {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s", []string{d.A, d.B}[i], w))
		}
		both[i] = g
	}
	d.Sections = onnx.Diff(both[0], both[1])
	return nil
}

// readGraph reads a model, and digests weights in files of its folder.
func readGraph(path string) (g *onnx.Graph, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var opened []*os.File
	defer func() {
		for _, f := range opened {
			_ = f.Close()
		}
	}()
	open := func(name string) (*os.File, int64, error) {
		st, err := root.Stat(name) // a pipe would be waited for
		if err == nil && !st.Mode().IsRegular() {
			err = errors.New("it is no file")
		}
		if err != nil {
			return nil, 0, plain(err)
		}
		f, err := root.Open(name)
		if err != nil {
			return nil, 0, plain(err)
		}
		opened = append(opened, f)
		return f, st.Size(), nil
	}
	f, err := os.Open(path) // which may be a link out of the folder: it is what was asked for
	if err != nil {
		return nil, plain(err)
	}
	opened = append(opened, f)
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return onnx.ReadGraph(f, st.Size(), func(name string) (io.ReaderAt, int64, error) {
		f, size, err := open(name)
		if err != nil {
			return nil, 0, err
		}
		return f, size, nil
	})
}

// plain is an error without the path, which is said beside it.
func plain(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// tensors compares files of tensors by their names.
func (d *Differences) tensors(a, b string, one, two *Tensors) error {
	s := diff.Section{Of: "tensors", Entries: []diff.Entry{}}
	in := make(map[string]Tensor, len(two.List))
	for _, t := range two.List {
		in[t.Name] = t
	}
	was := make(map[string]bool, len(one.List))
	f, err := os.Open(a)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return err
	}
	defer g.Close()
	for _, t := range one.List {
		was[t.Name] = true
		u, ok := in[t.Name]
		if !ok {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Removed, Name: t.Name, A: t.Name + "  " + t.what()})
			continue
		}
		e := diff.Entry{Change: diff.Changed, Name: t.Name, A: t.what(), B: u.what()}
		if e.A == e.B && t.Size >= 0 {
			if e.A, e.B, err = contents(f, g, t, u); err != nil {
				return err
			}
		}
		if e.A == e.B {
			s.Same++
		} else {
			s.Entries = append(s.Entries, e)
		}
	}
	for _, t := range two.List {
		if !was[t.Name] {
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Added, Name: t.Name, B: t.Name + "  " + t.what()})
		}
	}
	d.Sections = append(d.Sections, s, metadata(one.Metadata, two.Metadata))
	return nil
}

func (t Tensor) what() string {
	return fmt.Sprintf("%s%s", t.DType, dimsText(t.Shape))
}

// sum digests the content of a tensor in a file.
func (t Tensor) sum(f *os.File) ([]byte, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(f, t.Offset, t.Size))
	return h.Sum(nil), err
}

// contents are digests of two tensors of the same size; both are "" where they are alike.
func contents(f, g *os.File, t, u Tensor) (a, b string, err error) {
	if t.Size != u.Size {
		return fmt.Sprintf("%s of %d bytes", t.what(), t.Size), fmt.Sprintf("%s of %d bytes", u.what(), u.Size), nil
	}
	x, err := t.sum(f)
	if err != nil {
		return "", "", err
	}
	y, err := u.sum(g)
	if bytes.Equal(x, y) || err != nil {
		return "", "", err
	}
	return fmt.Sprintf("%s %x", t.what(), x[:6]), fmt.Sprintf("%s %x", u.what(), y[:6]), nil
}

func metadata(a, b map[string]string) diff.Section {
	one, two := map[string]string{}, map[string]string{}
	for k, v := range a {
		one[k] = short(v)
	}
	for k, v := range b {
		two[k] = short(v)
	}
	return compared("metadata", one, two)
}

// short is a text that a line can have.
func short(s string) string {
	if len(s) <= 100 {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes, %x)", strings.ToValidUTF8(s[:60], ""), len(s), sha256.Sum256([]byte(s)))
}

// facts compares what there is to say of two files.
func (d *Differences) facts(one, two Description) error {
	var both [2]map[string]string
	for i, x := range []Description{one, two} {
		x.Path = ""
		raw, err := json.Marshal(x)
		if err != nil {
			return err
		}
		var tree any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&tree); err != nil {
			return err
		}
		both[i] = map[string]string{}
		if flatten("", tree, both[i]); len(both[i]) > maxFacts {
			return fmt.Errorf("%s: there is more to say of it than is compared: %d facts", []string{d.A, d.B}[i], len(both[i]))
		}
	}
	d.Sections = append(d.Sections, compared("facts", both[0], both[1]))
	return nil
}

// flatten gives each number and text of a tree a name: its way.
func flatten(at string, tree any, to map[string]string) {
	switch x := tree.(type) {
	case map[string]any:
		for k, v := range x {
			flatten(strings.TrimPrefix(at+"."+k, "."), v, to)
		}
	case []any:
		for i, v := range x {
			flatten(fmt.Sprintf("%s[%d]", at, i), v, to)
		}
	default:
		if s := fmt.Sprint(x); s != "" {
			to[at] = short(s)
		}
	}
}

// compared compares values by name.
func compared(of string, a, b map[string]string) diff.Section {
	s := diff.Section{Of: of, Entries: []diff.Entry{}}
	names := make([]string, 0, len(a)+len(b))
	for k := range a {
		names = append(names, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, k := range names {
		x, was := a[k]
		y, is := b[k]
		switch {
		case !is:
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Removed, Name: k, A: k + " = " + x})
		case !was:
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Added, Name: k, B: k + " = " + y})
		case x != y:
			s.Entries = append(s.Entries, diff.Entry{Change: diff.Changed, Name: k, A: x, B: y})
		default:
			s.Same++
		}
	}
	return s
}

// String is the differences for people.
func (d Differences) String() string {
	var w strings.Builder
	fmt.Fprintf(&w, "--- %s\n+++ %s\n", clean(d.A), clean(d.B))
	for _, s := range d.Sections {
		s.Text(&w, clean)
	}
	for _, x := range d.Warnings {
		fmt.Fprintf(&w, "warning: %s\n", clean(x))
	}
	if d.Same {
		w.WriteString("the same\n")
	}
	return w.String()
}

// Difference prints in what two files differ, and tells whether they do.
func (p *Printer) Difference(a, b string) (differ bool, err error) {
	d, err := Compare(p.Dir, a, b)
	if err != nil {
		return false, err
	}
	if p.JSON {
		err = json.NewEncoder(p.Out).Encode(d)
	} else {
		_, err = io.WriteString(p.Out, d.String())
	}
	return !d.Same, err
}
