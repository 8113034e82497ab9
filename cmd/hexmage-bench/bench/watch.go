package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	saves = 25 // measured
	// between saves nothing happens for so long, as with people
	rest = 150 * time.Millisecond
	// a save whose output is not there after so long is lost
	patience = 20 * time.Second
	// how long a watcher has from its start until it must see saves
	begun = 3 * time.Second
)

// WatchResult is how long it takes from a save until the final output is another.
type WatchResult struct {
	Graph    string
	Hexmage  Series // `hexmage watch`
	Entr     Series // entr that starts ninja
	Problems []string
}

// watcher is a program that builds after each save.
type watcher struct {
	dir, final string
	cmd        *exec.Cmd
	edition    uint64
}

// measureWatch measures both watchers on the graph, in turn.
func measureWatch(ctx context.Context, o Options, g Graph, programs, dir string) (*WatchResult, error) {
	defer remove(dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j := "-j" + strconv.Itoa(o.Jobs)
	final := g.Nodes[len(g.Nodes)-1].Out
	hexmage := &watcher{dir: filepath.Join(dir, "hexmage"), final: filepath.Join("out", "graph", strings.TrimPrefix(final, "out/"))}
	entr := &watcher{dir: filepath.Join(dir, "entr"), final: final}
	for _, w := range []*watcher{hexmage, entr} {
		if err := g.write(programs, w.dir); err != nil {
			return nil, err
		}
	}
	first := program{argv: []string{o.Ninja, j}, dir: entr.dir, env: environment(entr.dir)}
	if _, err := first.measure(ctx); err != nil {
		return nil, err
	}
	env := append(environment(hexmage.dir), "HEXMAGE_CACHE="+filepath.Join(hexmage.dir, "cache"))
	first = program{argv: []string{o.Hexmage, "run", "graph", j}, dir: hexmage.dir, env: env}
	if _, err := first.measure(ctx); err != nil {
		return nil, err
	}
	err := hexmage.start(ctx, env, nil, o.Hexmage, "watch", "graph", j)
	if err == nil {
		defer hexmage.stop()
		names := strings.Join(g.Sources, "\n") + "\n"
		err = entr.start(ctx, append(environment(entr.dir), o.EntrEnv...), strings.NewReader(names), o.Entr, "-n", o.Ninja, j)
	}
	if err != nil {
		return nil, err
	}
	defer entr.stop()
	time.Sleep(begun)
	res := &WatchResult{Graph: fmt.Sprintf("wide %d", len(g.Sources))}
	for i := range saves {
		source := (i*37 + 1) % len(g.Sources)
		for _, m := range []struct {
			w  *watcher
			to *Series
		}{{hexmage, &res.Hexmage}, {entr, &res.Entr}} {
			took, err := m.w.save(g, source)
			if err != nil {
				return nil, err
			}
			m.to.Samples = append(m.to.Samples, Sample{Wall: took})
			time.Sleep(rest)
		}
	}
	a, err := os.ReadFile(filepath.Join(hexmage.dir, hexmage.final))
	b, berr := os.ReadFile(filepath.Join(entr.dir, entr.final))
	if err = errors.Join(err, berr); err == nil && !bytes.Equal(a, b) {
		res.Problems = append(res.Problems, res.Graph+": after the last save, the final outputs of hexmage watch and of entr with ninja differ")
	}
	return res, err
}

func (w *watcher) start(ctx context.Context, env []string, stdin io.Reader, argv ...string) error {
	w.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	w.cmd.Dir, w.cmd.Env, w.cmd.Stdin = w.dir, env, stdin
	if err := w.cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	return nil
}

func (w *watcher) stop() {
	_ = w.cmd.Process.Signal(os.Interrupt)
	_ = w.cmd.Wait()
}

// save writes a source, and returns how long it took until the final output was whole and another.
func (w *watcher) save(g Graph, source int) (time.Duration, error) {
	path := filepath.Join(w.dir, w.final)
	before, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	w.edition++
	begin := time.Now()
	if err := g.edit(source, w.edition, "", w.dir); err != nil {
		return 0, err
	}
	for time.Since(begin) < patience {
		time.Sleep(200 * time.Microsecond)
		now, err := os.ReadFile(path)
		if err == nil && len(now) == len(before) && !bytes.Equal(now, before) {
			return time.Since(begin), nil
		}
	}
	return 0, fmt.Errorf("%s: a save of %s was not followed by another %s in %v", w.cmd.Path, g.Sources[source], w.final, patience)
}
