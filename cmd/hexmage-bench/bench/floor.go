package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// floorCold starts the graph's processes from Go, level by level, with nothing around them.
func floorCold(ctx context.Context, g Graph, dir string, jobs int) (Sample, error) {
	for _, sub := range []string{"out", "obj"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return Sample{}, err
		}
	}
	var cpu atomic.Int64
	begin := time.Now()
	for _, level := range levels(g) {
		err := parallel(jobs, len(level), func(i int) error {
			cmd := exec.CommandContext(ctx, "./tools/tiny", append([]string{level[i].Out}, level[i].In...)...)
			cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
			err := cmd.Run()
			if err == nil {
				cpu.Add(int64(cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()))
			}
			return err
		})
		if err != nil {
			return Sample{}, err
		}
	}
	return Sample{Wall: time.Since(begin), CPU: time.Duration(cpu.Load()), Read: -1}, nil
}

// floorNoOp asks for the stat data of every source and output.
func floorNoOp(g Graph, dir string, jobs int) (Sample, error) {
	paths := append(g.outputs(), g.Sources...)
	begin := time.Now()
	err := parallel(jobs, jobs, func(w int) error {
		for i := w; i < len(paths); i += jobs {
			if _, err := os.Lstat(filepath.Join(dir, paths[i])); err != nil {
				return err
			}
		}
		return nil
	})
	return Sample{Wall: time.Since(begin), Read: -1}, err
}

// floorRestore makes a hard link for every output.
func floorRestore(g Graph, dir string) (Sample, error) {
	settle()
	begin := time.Now()
	to, err := os.MkdirTemp(dir, "restored-")
	if err != nil {
		return Sample{}, err
	}
	for i, out := range g.outputs() {
		if err := os.Link(filepath.Join(dir, out), filepath.Join(to, strconv.Itoa(i))); err != nil {
			return Sample{}, err
		}
	}
	return Sample{Wall: time.Since(begin), Read: -1}, nil
}

// levels are actions that don't need each other.
func levels(g Graph) [][]Node {
	at := map[string]int{}
	var all [][]Node
	for _, n := range g.Nodes {
		level := 0
		for _, in := range n.In {
			if l, ok := at[in]; ok {
				level = max(level, l+1)
			}
		}
		at[n.Out] = level
		if level == len(all) {
			all = append(all, nil)
		}
		all[level] = append(all[level], n)
	}
	return all
}

// parallel calls f for 0 to n-1 on some goroutines and returns one of the errors.
func parallel(jobs, n int, f func(int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, jobs)
	for range jobs {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
