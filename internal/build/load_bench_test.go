package build_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/snapshot/snapshottest"
	"github.com/hexmage/hexmage/internal/stat"
)

// wideSnapshot writes a workspace of n source files and the snapshot of a build with an action for each, and one that needs them all.
func wideSnapshot(tb testing.TB, n int) (workspace, path string) {
	workspace = tb.TempDir()
	path = filepath.Join(workspace, "snapshot")
	m := &snapshottest.Build{Fn: digest.BLAKE3, Title: snapshot.Title{Pipeline: "wide"}}
	if err := os.Mkdir(filepath.Join(workspace, "src"), 0o755); err != nil {
		tb.Fatal(err)
	}
	last := snapshot.Unit{Instance: n}
	for i := range n {
		name := fmt.Sprintf("src/s%05d", i)
		if err := os.WriteFile(filepath.Join(workspace, name), nil, 0o644); err != nil {
			tb.Fatal(err)
		}
		s, err := stat.Lstat(filepath.Join(workspace, name))
		if err != nil {
			tb.Fatal(err)
		}
		d := digest.BLAKE3.Bytes([]byte(name))
		at := addrs.Instance{Step: addrs.Step{Kind: "exec", Name: "obj"}, Key: name, Keyed: true}
		m.Hosts = append(m.Hosts, snapshot.Host{Path: name, Digest: d, Files: []snapshot.File{{Path: name, Stamp: s, Clean: true}}})
		m.Instances = append(m.Instances, snapshot.Instance{Plan: plan.Instance{At: at, Where: "pipelines/wide.hcl:2", Source: "step\n}",
			Outputs: map[string]action.Artifact{"o": {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Path: "o"}}}}}}})
		m.Units = append(m.Units, snapshot.Unit{Instance: i, Hosts: []int{i}, Key: d, Root: d, Outs: []snapshot.Out{{Path: "o", Digest: d}},
			Spec: action.Spec{Args: []string{"cc", name}, Inputs: []action.Input{{Path: name, Host: &action.HostPath{Path: name}}}}})
		last.Needs = append(last.Needs, i)
		m.Outputs = append(m.Outputs, snapshot.Output{Units: []int{i}, ID: d.String(),
			Plan: plan.Output{Name: fmt.Sprint("objs.", i), Class: action.File, Artifact: action.Input{Artifact: &addrs.Output{Instance: at, Name: "o"}}}})
	}
	m.Instances = append(m.Instances, snapshot.Instance{Plan: plan.Instance{At: addrs.Instance{Step: addrs.Step{Kind: "exec", Name: "all"}}}})
	m.Units = append(m.Units, last)
	if err := m.Save(path); err != nil {
		tb.Fatal(err)
	}
	return workspace, path
}

func BenchmarkLoad10000(b *testing.B) {
	workspace, path := wideSnapshot(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := build.Load(build.Machine{Workspace: workspace}, build.Options{Snapshot: &build.Snapshot{Path: path}}); err != nil {
			b.Fatal(err)
		}
	}
}
