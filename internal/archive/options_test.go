package archive_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mholt/archives"

	"github.com/hexmage/hexmage/internal/archive"
)

// TestCaseMatters: an archive for Linux may have names that differ in case only, which is no excuse for anything else.
func TestCaseMatters(t *testing.T) {
	two := []item{{name: "xt_MARK.h", body: "1"}, {name: "xt_mark.h", body: "2"}}
	for name, b := range map[string][]byte{"tar": tarBytes(t, two...), "zip": zipBytes(t, two...)} {
		y := newYard(t, b)
		err := archive.Unpack(t.Context(), y.dest, archive.Options{CaseMatters: true}, y.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if files := list(t, y.dest); len(files) != 2 {
			t.Errorf("%s: %v", name, files)
		}
		y.check(t, err == nil)
		hostile{b: b, want: archive.ErrUnsafe, text: "case_matters = true"}.refuse(t)
	}
	setuid := tarBytes(t, item{name: "su", body: "x", mode: 0o4755})
	hostile{b: setuid, opt: archive.Options{CaseMatters: true}, want: archive.ErrUnsafe, text: `"su"`}.refuse(t)
}

// TestProgress: what is told only grows, is of the archives' size, and ends there.
func TestProgress(t *testing.T) {
	plain := tarBytes(t, samplesLarge("t/")...)
	zipped := file(t, zipBytes(t, samplesLarge("z/")...))
	for name, in := range map[string][]string{"zip": {zipped},
		"tar.gz": {file(t, compress(t, archives.Gz{CompressionLevel: 1}, plain))}, "tar": {file(t, plain)},
		"two": {zipped, file(t, plain)}} {
		t.Run(name, func(t *testing.T) {
			want := int64(0)
			for _, f := range in {
				info, err := os.Stat(f)
				if err != nil {
					t.Fatal(err)
				}
				want += info.Size()
			}
			var mu sync.Mutex
			calls, most := 0, int64(0)
			opt := archive.Options{Progress: func(done, total int64) {
				mu.Lock()
				defer mu.Unlock()
				calls, most = calls+1, max(most, done)
				if total != want || done > total {
					t.Errorf("%d of %d, want of %d", done, total, want)
				}
			}}
			if err := archive.Unpack(t.Context(), filepath.Join(t.TempDir(), "out"), opt, in...); err != nil {
				t.Fatal(err)
			}
			if calls < 2 || most != want {
				t.Errorf("told %d times, at last %d of %d", calls, most, want)
			}
		})
	}
}

func samplesLarge(dir string) []item {
	noise := make([]byte, 3<<20)
	x := uint32(1)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	return []item{{name: dir + "a", body: string(noise)}, {name: dir + "b", body: string(noise) + "b"},
		{name: dir + "c", body: string(noise) + "c"}}
}
