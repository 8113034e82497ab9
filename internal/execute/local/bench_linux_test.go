package local_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/merkle"
)

// used is the processor time of this process and of its children that ended.
func used() time.Duration {
	var d time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		_ = syscall.Getrusage(who, &r)
		d += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return d
}

// copier is a small static program that copies its second argument to its first.
func copier(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	src := "#include <fcntl.h>\n#include <unistd.h>\nint main(int c,char**v){static char b[4096];int " +
		"o=open(v[1],O_WRONLY|O_CREAT,0644),i=open(v[2],O_RDONLY);return write(o,b,read(i,b,4096))<0;}\n"
	if err := os.WriteFile(filepath.Join(dir, "c.c"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-static", "-o", filepath.Join(dir, "c"),
		filepath.Join(dir, "c.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "c"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// One action is a program of 4 KiB in, 4 KiB out; two run at once.
func BenchmarkExecute(b *testing.B) {
	prog := string(copier(b))
	for _, c := range levels(b) {
		for _, out := range []string{"o", "out/o"} {
			b.Run(c.name+"/"+out, func(b *testing.B) {
				f := newFixture(b)
				f.x = local.New(local.Options{Dir: f.dir, Store: f.blobs,
					Trees: merkle.NewTrees(filepath.Dir(filepath.Dir(f.dir))), Fn: digest.BLAKE3, Base: c.base,
					Self: self(b)})
				b.Cleanup(func() { _ = f.x.Close() })
				var actions []*action.Action
				for n := range b.N {
					root := f.root(b, map[string]string{"tools/prog": prog,
						"src/in": strings.Repeat(fmt.Sprintf("%7d\n", n), 512)})
					actions = append(actions,
						&action.Action{Command: action.Command{Args: []string{"tools/prog", out, "src/in"},
							Outputs: []string{out}}, InputRoot: root})
				}
				b.ResetTimer()
				before := used()
				var wg sync.WaitGroup
				for w := range 2 {
					wg.Go(func() {
						for n := w; n < len(actions); n += 2 {
							if r, err := f.x.Execute(b.Context(), &execute.Request{Action: actions[n]}); err != nil ||
								r.ExitCode != 0 || len(r.Files) != 1 {
								b.Errorf("%+v, %v", r, err)
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}
