package local_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/store"
)

// plain hides that a store can link: inputs are copied into the exec root.
type plain struct{ store.Blobs }

// onHost keeps blobs as files of the host, as those of a workspace are.
type onHost struct {
	*store.HostFiles
	dir string
}

func (h onHost) Put(_ context.Context, d digest.Digest, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	path := filepath.Join(h.dir, d.Hex())
	h.Add(d, path)
	return os.WriteFile(path, b, 0o600)
}

// A process that another goroutine starts while a program is being written inherits the open file for a moment, and the
// kernel runs no program that is open for writing.
func TestProgramsThatWereJustWritten(t *testing.T) {
	linked := newFixture(t)
	copied := newFixture(t)
	copied.x = local.New(local.Options{Dir: copied.dir, Store: plain{copied.blobs}, Fn: digest.BLAKE3, Self: self(t)})
	host := newFixture(t)
	sources := onHost{store.WithHostFiles(host.blobs), t.TempDir()}
	host.blobs = sources
	host.x = local.New(local.Options{Dir: host.dir, Store: sources.HostFiles, Fn: digest.BLAKE3, Self: self(t)})
	for name, f := range map[string]fixture{"linked": linked, "copied": copied, "from the workspace": host} {
		t.Run(name, func(t *testing.T) {
			var actions []*action.Action
			for n := range 400 {
				actions = append(actions, &action.Action{
					Command:   action.Command{Args: []string{"./prog"}},
					InputRoot: f.root(t, map[string]string{"prog": fmt.Sprintf("#!/bin/true\n# %d\n", n)}),
				})
			}
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for n := w; n < len(actions); n += 8 {
						if r, err := f.x.Execute(t.Context(), &execute.Request{Action: actions[n]}); err != nil ||
							r.ExitCode != 0 {
							t.Errorf("%d: %+v, %v", n, r, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
