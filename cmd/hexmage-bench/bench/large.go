package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

const (
	largeFiles = 8
	// oldEnough are sources when hexmage first sees them: the stat data of a file that is younger than the clock of a
	// file system is fine may not be relied on.
	oldEnough = 2500 * time.Millisecond
	// smallRead is what a run may read that reads no file of the user's: itself, pipelines, its own notes. Bytes.
	smallRead = 1 << 20
)

// LargeResult is what was measured on large files.
type LargeResult struct {
	Size     int64  // bytes of each file
	Hexmage  Series // hashes, transforms, keeps
	Plain    Series // the same commands, started by a shell with &
	Synced   Series // Plain, and its outputs safe against a crash, as hexmage's are
	Hash     Series // reading and hashing the inputs once; the outputs take as long
	Again    Series // hexmage, with nothing changed
	Problems []string
}

// Limit is the budget in seconds: 1.15 × the plain commands, and hashing each byte that enters the store once: the
// inputs and the outputs.
func (l *LargeResult) Limit() float64 {
	return 1.15*median(l.Plain.values(wall)) + 2*median(l.Hash.values(wall))
}

// measureLarge runs eight transforms.
func measureLarge(ctx context.Context, o Options, dir string) (*LargeResult, error) {
	defer remove(dir)
	if err := writeLarge(o.Large, dir, filepath.Join(filepath.Dir(dir), "programs", "flip")); err != nil {
		return nil, err
	}
	time.Sleep(oldEnough)
	var script strings.Builder
	for i := range largeFiles {
		fmt.Fprintf(&script, "./tools/flip plain/o.%d src/%d & ", i, i)
	}
	script.WriteString("wait")
	env := environment(dir)
	synced := program{argv: []string{"/bin/sh", "-c", script.String() + " && sync plain/*"}, dir: dir, env: env}
	plain := program{argv: []string{"/bin/sh", "-c", script.String()}, dir: dir, env: env}
	hexmage := program{argv: []string{o.Hexmage, "run", "large", "-j" + strconv.Itoa(o.Jobs)}, dir: dir, env: append(env, "HEXMAGE_CACHE="+filepath.Join(dir, "cache"))}
	l := &LargeResult{Size: o.Large}
	for range max(o.Repeat, 2) {
		for _, sub := range []string{"cache", "out", "plain"} {
			if err := remove(filepath.Join(dir, sub)); err != nil {
				return nil, err
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "plain"), 0o755); err != nil {
			return nil, err
		}
		for _, m := range []struct {
			to *Series
			p  program
		}{{&l.Plain, plain}, {&l.Synced, synced}, {&l.Hexmage, hexmage}, {&l.Again, hexmage}} {
			settle()
			s, err := m.p.measure(ctx)
			if err != nil {
				return nil, err
			}
			m.to.Samples = append(m.to.Samples, s)
		}
		s, err := hashSources(dir, o.Jobs)
		if err != nil {
			return nil, err
		}
		l.Hash.Samples = append(l.Hash.Samples, s)
	}
	if o.Profiles != "" {
		if err := remove(filepath.Join(dir, "cache"), filepath.Join(dir, "out")); err != nil {
			return nil, err
		}
		if err := profile(ctx, hexmage, o.Profiles, "large-cold"); err != nil {
			return nil, err
		}
	}
	for _, s := range l.Again.Samples {
		if s.Read > smallRead {
			l.Problems = append(l.Problems, fmt.Sprintf("large files: with nothing changed, %d bytes were read", s.Read))
		}
	}
	want, err := hashFolder(filepath.Join(dir, "plain"))
	if err != nil {
		return nil, err
	}
	if got, err := hashFolder(filepath.Join(dir, "out", "large")); err != nil || got != want {
		l.Problems = append(l.Problems, fmt.Sprintf("large files: the outputs are %s, %v, those of the plain commands %s", got, err, want))
	}
	return l, nil
}

func writeLarge(size int64, dir, flip string) error {
	for _, sub := range []string{"src", "tools", "pipelines"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	block := make([]byte, 1<<20)
	for i := range largeFiles {
		f, err := os.Create(filepath.Join(dir, "src", strconv.Itoa(i)))
		if err != nil {
			return err
		}
		r := rand.NewChaCha8([32]byte{byte(i)})
		for left := size; left > 0 && err == nil; left -= int64(len(block)) {
			_, _ = r.Read(block)
			_, err = f.Write(block[:min(left, int64(len(block)))])
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
	}
	b, err := os.ReadFile(flip)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "flip"), b, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pipelines", "large.hcl"), []byte(header+`
step "exec" "flip" {
  for_each = toset(fileset("src", "*"))
  argv     = ["./tools/flip", "o", each.value]
  inputs   = ["tools/flip", each.value]
  output "o" { file = "o" }
}

output "o" { value = [for s in step.exec.flip : s.outputs.o] }
`), 0o644)
}

// hashSources reads and hashes the sources, as many at once as there are jobs.
func hashSources(dir string, jobs int) (Sample, error) {
	begin := time.Now()
	err := parallel(jobs, largeFiles, func(i int) error {
		f, err := os.Open(filepath.Join(dir, "src", strconv.Itoa(i)))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = digest.BLAKE3.Reader(f)
		return err
	})
	return Sample{Wall: time.Since(begin), Read: -1}, err
}
