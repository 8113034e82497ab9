package merkle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statcache"
)

// bigFolder makes a host folder of 10,000 files in 200 folders, old enough for the stat cache.
func bigFolder(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for i := range 10_000 {
		write(b, filepath.Join(dir, fmt.Sprintf("d%03d/f%02d.h", i%200, i/200)), fmt.Sprint("content ", i))
	}
	return dir
}

func BenchmarkScan10000(b *testing.B) {
	dir := bigFolder(b)
	b.Run("hash all", func(b *testing.B) {
		for b.Loop() {
			if _, err := merkle.Scan(b.Context(), merkle.HashFiles(fn), dir, merkle.ScanOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	soon := func() time.Time { return time.Now().Add(stat.RacyWindow + time.Second) }
	state := filepath.Join(b.TempDir(), "statcache")
	c := statcache.Open(state, fn, soon)
	if _, err := merkle.Scan(b.Context(), c.Hash, dir, merkle.ScanOptions{}); err != nil {
		b.Fatal(err)
	}
	if err := c.Save(); err != nil {
		b.Fatal(err)
	}
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			c := statcache.Open(state, fn, soon)
			if _, err := merkle.Scan(b.Context(), c.Hash, dir, merkle.ScanOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode10000(b *testing.B) {
	d, err := merkle.Scan(b.Context(), merkle.HashFiles(fn), bigFolder(b), merkle.ScanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	root, _ := d.Encode(fn)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			d.Encode(fn)
		}
	})
	b.Run("exec root with it as a Ref", func(b *testing.B) {
		for b.Loop() {
			r := &merkle.Dir{}
			if err := r.Insert(b.Context(), nil, "src/a.cpp", merkle.File{Digest: fn.Bytes(nil)}); err != nil {
				b.Fatal(err)
			}
			if err := r.Merge(b.Context(), nil, "toolchains/sdk", merkle.Ref(root)); err != nil {
				b.Fatal(err)
			}
			r.Encode(fn)
		}
	})
}

// BenchmarkMerge10000 makes the input root of an action with 10,000 input files, as a link step has them.
func BenchmarkMerge10000(b *testing.B) {
	one := fn.Bytes([]byte("content"))
	inputs := make([]string, 10_000)
	for i := range inputs {
		inputs[i] = fmt.Sprintf("steps/exec/obj/%05d/o", i)
	}
	for b.Loop() {
		root := &merkle.Dir{}
		for _, path := range inputs {
			if err := root.Insert(b.Context(), nil, path, merkle.File{Digest: one}); err != nil {
				b.Fatal(err)
			}
		}
		root.Encode(fn)
	}
}

func BenchmarkMaterializeAndCapture10000(b *testing.B) {
	blobs := diskStore(b)
	top := b.TempDir()
	dirs := bigFolder(b)
	var out string
	for i := 0; b.Loop(); i++ {
		out = filepath.Join(top, strconv.Itoa(i))
		if err := os.MkdirAll(out, 0o755); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			if err := os.Rename(dirs, filepath.Join(out, "tree")); err != nil {
				b.Fatal(err)
			}
		}
		start := time.Now()
		_, captured, err := merkle.Capture(b.Context(), blobs, fn, out, []string{"tree"})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "capture-ms")
		start = time.Now()
		next := filepath.Join(top, strconv.Itoa(i+1))
		if err := os.MkdirAll(next, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := merkle.Materialize(b.Context(), blobs, merkle.Ref(captured[0].Root), filepath.Join(next, "tree"),
			false); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "materialize-ms")
	}
}
