package gc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/gc"
)

// The test binary is also what the tests kill.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "use":
			done, err := gc.LockShared(context.Background(), os.Args[2], nil)
			fmt.Println("has it", err)
			time.Sleep(time.Hour)
			done()
		case "collect":
			fmt.Println("starts")
			_, err := gc.Collect(context.Background(), os.Args[2], gc.CollectOptions{MaxSize: 1})
			fmt.Println("ended", err)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// start runs this binary as another process, and returns after the first line that it prints.
func start(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.Contains(line, "error") {
		t.Fatalf("%q: %v", line, err)
	}
	return cmd
}

func TestLock(t *testing.T) {
	root := t.TempDir()
	c := open(t, root)
	c.run(t, time.Now(), "a=b")
	other := start(t, "use", root)
	done, err := gc.LockShared(t.Context(), root, nil) // builds do not mind each other
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := gc.Collect(t.Context(), root, gc.CollectOptions{MaxSize: 1}); !errors.Is(err, gc.ErrInUse) {
			t.Errorf("collected while in use: %v", err)
		}
	}
	if _, err := gc.Verify(t.Context(), root, gc.VerifyOptions{Repair: true}); !errors.Is(err, gc.ErrInUse) {
		t.Errorf("repaired while in use: %v", err)
	}
	if _, err := gc.Verify(t.Context(), root, gc.VerifyOptions{}); err != nil {
		t.Errorf("verified while in use: %v", err)
	}
	if _, err := gc.Collect(t.Context(), root, gc.CollectOptions{MaxSize: 1, DryRun: true}); err != nil {
		t.Errorf("dry run while in use: %v", err)
	}
	done()
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	alone, err := gc.LockExclusive(t.Context(), root) // kill -9 leaves no lock behind
	if err != nil {
		t.Fatal(err)
	}
	waits, got := make(chan bool, 1), make(chan error, 1)
	go func() {
		done, err := gc.LockShared(t.Context(), root, func() { waits <- true })
		if err == nil {
			done()
		}
		got <- err
	}()
	<-waits
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := gc.LockShared(short, root, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was given up: %v", err)
	}
	alone()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if alone, err = gc.LockExclusive(t.Context(), root); err != nil { // the wait that was given up holds nothing
		t.Fatal(err)
	}
	alone()
}

// A process that holds no lock, as on a file system that has none, is known by its scratch folder.
func TestScratchTells(t *testing.T) {
	root := t.TempDir()
	pid := os.Getppid()
	dir := filepath.Join(root, "tmp", fmt.Sprintf("run-%d-123", pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := gc.LockExclusive(t.Context(), root); !errors.Is(err, gc.ErrInUse) {
		t.Errorf("process %d is at work: %v", pid, err)
	}
	if err := os.Rename(dir, filepath.Join(root, "tmp", "run-2147483646-1")); err != nil {
		t.Fatal(err)
	}
	done, err := gc.LockExclusive(t.Context(), root)
	if err != nil {
		t.Fatalf("its process is dead: %v", err)
	}
	done()
}

// Builds and collections take turns, and no build ever misses what it found or made.
func TestCollectBesideBuilds(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	var builds, hits, collections atomic.Int64
	build := func(r *rand.Rand, dir string) error {
		done, err := gc.LockShared(t.Context(), root, nil)
		if err != nil {
			return err
		}
		defer done()
		c := open(t, root)
		x := c.build()
		var made []*action.Result
		for range 6 {
			n := r.IntN(12)
			a := newAction(fmt.Sprintf("dir/a=%d", n), fmt.Sprintf("dir/sub/b=%d", n%5), fmt.Sprintf("f=%d", n%3))
			res, ok, err := execute.Lookup(t.Context(), x, &execute.Request{Action: a})
			if err != nil {
				return err
			}
			if ok {
				hits.Add(1)
			} else if res, err = x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
				return err
			}
			made = append(made, res)
			time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		}
		for i, res := range made {
			to := filepath.Join(dir, fmt.Sprint(i))
			if err := os.MkdirAll(to, 0o755); err != nil {
				return err
			}
			if err := c.layOut(t.Context(), res, to); err != nil {
				return err
			}
		}
		builds.Add(1)
		return nil
	}
	for i := range 3 {
		r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
		base := t.TempDir()
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := build(r, filepath.Join(base, fmt.Sprint(n))); err != nil {
					t.Errorf("build %d.%d: %v", i, n, err)
					return
				}
				time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			_, err := gc.Collect(t.Context(), root, gc.CollectOptions{MaxSize: 100_000})
			switch {
			case err == nil:
				collections.Add(1)
			case !errors.Is(err, gc.ErrInUse):
				t.Errorf("collection: %v", err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	wg.Wait()
	t.Logf("%d builds with %d hits, %d collections", builds.Load(), hits.Load(), collections.Load())
	if builds.Load() == 0 || hits.Load() == 0 || collections.Load() == 0 {
		t.Error("they did not meet")
	}
}

// count returns the number of files in the store.
func count(t *testing.T, root string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "blake3", "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// A collection that is killed leaves a cache in which every result is whole or not known, and nothing is damaged.
func TestCollectKilled(t *testing.T) {
	root := t.TempDir()
	c := open(t, root)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	var actions []*action.Action
	fill := func() {
		actions = nil
		for i := range 60 {
			a := newAction(fmt.Sprintf("dir/a=%d", i), fmt.Sprintf("dir/sub/b=%d", i%7), fmt.Sprintf("f.sh=%d", i))
			res, err := c.build().Execute(t.Context(), &execute.Request{Action: a})
			if err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				if _, err := c.trees.Path(t.Context(), c.blobs, res.Dirs[0].Root); err != nil {
					t.Fatal(err)
				}
			}
			actions = append(actions, a)
		}
		if err := c.blobs.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	partial := 0
	for round := range 6 {
		fill()
		all := count(t, root)
		p := start(t, "collect", root)
		left := r.IntN(all)
		if round%2 == 0 {
			left = all - 1 - r.IntN(20) // among the results, which go first
		}
		for count(t, root) > left {
		}
		_ = p.Process.Kill()
		_ = p.Wait()
		s, err := gc.Read(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if s.Broken != 0 {
			t.Errorf("%d results name what is gone", s.Broken)
		}
		stayed := 0
		for _, a := range actions {
			if c.known(t, a) {
				stayed++
			}
		}
		if left := count(t, root); left > 0 && left < all {
			partial++
		}
		v, err := gc.Verify(t.Context(), root, gc.VerifyOptions{})
		if err != nil || len(v.Problems) > 0 {
			t.Errorf("%+v, %v", v.Problems, err)
		}
		t.Logf("%d of %d results, %d of %d files stayed", stayed, len(actions), count(t, root), all)
	}
	if partial == 0 {
		t.Error("no collection was killed half way: the test tests nothing")
	}
	if _, err := gc.Collect(t.Context(), root, gc.CollectOptions{MaxSize: 1}); err != nil {
		t.Error(err)
	}
}
