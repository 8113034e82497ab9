package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/front"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
)

// TestSnapshotOfLevel: a snapshot holds on the level of the processor that its plan was made on, and on no other.
func TestSnapshotOfLevel(t *testing.T) {
	value := func(name string) digest.Digest { return digest.BLAKE3.Bytes([]byte(name)) }
	at := front.Last{Machine: build.Machine{Workspace: t.TempDir(), Fn: digest.BLAKE3, Lookup: value}}
	keep := newSnapshot(at, &planned{Plan: &plan.Plan{}}, time.Now())
	if keep == nil || !slices.Contains(keep.Lookups, snapshot.Lookup{Name: front.CPULevelLookup, Value: value(front.CPULevelLookup)}) {
		t.Errorf("%+v", keep)
	}
}
