// Package snapshottest has whole snapshots as values, for tests.
package snapshottest

import (
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/snapshot"
)

// Build is all that a snapshot has.
type Build struct {
	Fn        digest.Function
	Title     snapshot.Title
	Reads     []snapshot.Read
	Globs     []snapshot.Glob
	Lookups   []snapshot.Lookup
	Hosts     []snapshot.Host
	Instances []snapshot.Instance
	Units     []snapshot.Unit
	Outputs   []snapshot.Output
	Checks    []snapshot.Check
}

// Save puts the snapshot at path.
func (m *Build) Save(path string) error { return m.writer().Save(path) }

// Encode returns what the snapshot's file holds.
func (m *Build) Encode() []byte { return m.writer().Encode() }

func (m *Build) writer() *snapshot.Writer {
	at := make(map[addrs.Instance]int, len(m.Instances))
	for i := range m.Instances {
		at[m.Instances[i].Plan.At] = i
	}
	w := snapshot.NewWriter(m.Fn, func(of addrs.Instance) (int, bool) {
		i, ok := at[of]
		return i, ok
	})
	w.Title(m.Title)
	for _, r := range m.Reads {
		w.Read(r)
	}
	for _, g := range m.Globs {
		w.Glob(g)
	}
	for _, l := range m.Lookups {
		w.Lookup(l)
	}
	for _, h := range m.Hosts {
		w.Host(h)
	}
	for i := range m.Instances {
		w.Instance(&m.Instances[i])
	}
	for i := range m.Units {
		w.Unit(&m.Units[i])
	}
	for i := range m.Outputs {
		w.Output(&m.Outputs[i])
	}
	for i := range m.Checks {
		w.Check(&m.Checks[i])
	}
	return w
}
