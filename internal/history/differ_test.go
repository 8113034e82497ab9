package history_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/history"
)

// made is a document with one action, of whose key it has all.
func made(key string, of map[string]string, trees map[string]history.Folder) (*history.Document, *history.Action) {
	root := "root" + key // a digest, so that what differs has another
	trees[root] = trees["root"]
	d := &history.Document{Digests: "blake3", Toolchains: map[string]string{"cc": key}, Trees: trees,
		Steps: []history.Step{{Step: "exec.a", Actions: []history.Action{{Key: key, Of: of, Root: root}}}}}
	return d, &d.Steps[0].Actions[0]
}

func lines(d history.Difference) (all []string) {
	for _, c := range d.Changes {
		all = append(all, c.Name+": "+c.A+" → "+c.B)
		for _, in := range c.Inside {
			all = append(all, "  "+in.Name+": "+in.A+" → "+in.B)
		}
		if c.More > 0 {
			all = append(all, fmt.Sprintf("  %d more", c.More))
		}
	}
	for _, u := range d.Unknown {
		all = append(all, "unknown: "+u)
	}
	return all
}

// TestDiffer: arguments, environment, tools, inputs, in this order; an argument that is new does not make those
// behind it differ; folders are looked into.
func TestDiffer(t *testing.T) {
	x, a := made("1", map[string]string{
		"argument 0": "cc", "argument 1": "-c", "argument 2": "a.c", "variable LANG": "C", "variable ONLY": "x",
		"program sh": "11", "property tool": "t/1", "output o": "is one", "argument sha256": "aa",
	}, map[string]history.Folder{
		"root": {"args.json": "1", "a.c": "same", "inc": "folder inc1", "toolchains": "folder tools1",
			"old": "folder x"}, "inc1": {"a.h": "1 (5 bytes)", "b.h": "2 (5 bytes)"},
		"tools1":          {"cc": "folder cc1000000000000", "same": "folder s"},
		"cc1000000000000": {"bin": "folder bin1", "lib": "folder lib1"}, "bin1": {"cc": "1"},
		"lib1": {"pkg-1.0.info": "folder p", "pkg.py": "1"},
	})
	y, b := made("2", map[string]string{
		"argument 0": "cc", "argument 1": "-O2", "argument 2": "-c", "argument 3": "a.c", "variable LANG": "de",
		"program sh": "12", "property tool": "t/2", "output p": "is one", "argument sha256": "bb",
	}, map[string]history.Folder{
		"root": {"args.json": "2", "a.c": "same", "inc": "folder inc2", "toolchains": "folder tools2",
			"new": "folder y"}, "inc2": {"a.h": "1 (5 bytes)", "b.h": "3 (5 bytes)"},
		"tools2":          {"cc": "folder cc2000000000000", "same": "folder s", "ld": "folder ld"},
		"cc2000000000000": {"bin": "folder bin2", "lib": "folder lib2"}, "bin2": {"cc": "2"},
		"lib2": {"pkg-2.0.info": "folder p", "pkg.py": "2"},
	})
	want := []string{
		"argument 1:  → -O2", "argument sha256: aa → bb", "variable LANG: C → de", "variable ONLY: x → ",
		"toolchain cc: 1 (cc1000000000) → 2 (cc2000000000)", "  lib/pkg-1.0.info: folder p → ",
		"  lib/pkg-2.0.info:  → folder p", "  bin/cc: 1 → 2", "  lib/pkg.py: 1 → 2", "toolchain ld:  → ld",
		"program sh: 11 → 12", "property tool: t/1 → t/2", "input inc/b.h: 2 (5 bytes) → 3 (5 bytes)",
		"input new:  → folder y", "input old: folder x → ",
		"output o: is one → ", "output p:  → is one",
	}
	if diff := cmp.Diff(want, lines(history.DiffActions(x, a, y, b, false))); diff != "" {
		t.Error(diff)
	}
	if !reflect.ValueOf(history.DiffActions(x, a, x, a, false)).IsZero() {
		t.Error("an action differs from itself")
	}
	// What a document does not have is said, each with what it is about.
	delete(y.Trees, "inc2")
	delete(y.Trees, "lib2")
	got := lines(history.DiffActions(x, a, y, b, false))
	for _, says := range []string{"unknown: differences in inc (the cache evicted the files)",
		"  lib: folder lib1 → folder lib2"} {
		if !slices.Contains(got, says) {
			t.Errorf("no %q in %q", says, got)
		}
	}
	delete(x.Trees, "cc1000000000000") // so it is not known which files of the other are new
	got = lines(history.DiffActions(x, a, y, b, false))
	cc := slices.Index(got, "toolchain cc: 1 (cc1000000000) → 2 (cc2000000000)")
	if cc < 0 || strings.HasPrefix(got[cc+1], " ") {
		t.Errorf("%q", got)
	}
	y.Digests = "sha256"
	got = lines(history.DiffActions(x, a, y, b, false))
	if text := strings.Join(got, "\n"); strings.Contains(text, "input") &&
		!strings.Contains(text, "unknown: differences in inputs and programs") ||
		strings.Contains(text, "program sh") ||
		!strings.Contains(text, "one run has blake3 digests, the other sha256") {
		t.Errorf("%q", got)
	}
	b.Of = nil
	if got := lines(history.DiffActions(x, a, y, b, false)); len(got) != 1 ||
		!strings.Contains(got[0], "the cache evicted them before the export") {
		t.Errorf("%q", got)
	}
	b.Of, b.Root, y.Digests = a.Of, a.Root, x.Digests
	y.Trees = x.Trees
	if got := lines(history.DiffActions(x, a, y, b, false)); len(got) != 1 ||
		!strings.Contains(got[0], "but the documents do not contain the cause") {
		t.Errorf("%q", got)
	}
}

// TestDifferEnds: folders that are in themselves, or in each other many times over, come to an end.
func TestDifferEnds(t *testing.T) {
	wide := func(tag string) map[string]history.Folder {
		trees := map[string]history.Folder{"root": {"toolchains": "folder t", "x": "folder 0" + tag},
			"t": {"cc": "folder 0" + tag}}
		for i := range 300 { // 20 to the power of 300
			f := history.Folder{}
			for j := range 20 {
				f[fmt.Sprint(j)] = fmt.Sprintf("folder %d%s", (i+1)%300, tag)
			}
			trees[fmt.Sprintf("%d%s", i, tag)] = f
		}
		return trees
	}
	x, a := made("1", map[string]string{}, wide("a"))
	y, b := made("2", map[string]string{}, wide("b"))
	d := history.DiffActions(x, a, y, b, false)
	if len(d.Unknown) == 0 || !strings.Contains(d.Unknown[0], "too many entries to compare") {
		t.Errorf("%q", d.Unknown)
	}
}
