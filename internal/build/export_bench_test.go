package build_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/plan"
)

// Outputs of 4 KiB each are put in place, in a folder that is not there (restore), one that is there but empty (replace), or
// stand there already (no-op). What a build does beside that for its one action is in all three.
func BenchmarkExport(b *testing.B) {
	const n = 1000
	for _, kind := range []string{"restore", "empty", "no-op"} {
		b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
			w := newWorld(b)
			var outs []plan.Output
			for i := range n {
				outs = append(outs, output(fmt.Sprintf("f%d", i), "d", fmt.Sprintf("f%d", i)))
			}
			p := planOf(outs, shTree("d", fmt.Sprintf("mkdir out; for i in $(seq 0 %d); do head -c 4096 /dev/zero > out/f$i; echo $i >> out/f$i; done", n-1)))
			if r, err := build.Run(b.Context(), p, w.Options); err != nil || r.Failed > 0 {
				b.Fatal(r, err)
			}
			for b.Loop() {
				b.StopTimer()
				if kind != "no-op" {
					if err := os.RemoveAll(w.Out); err != nil {
						b.Fatal(err)
					}
				}
				if kind == "empty" {
					if err := os.Mkdir(w.Out, 0o755); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				if r, err := build.Run(b.Context(), p, w.Options); err != nil || r.Failed > 0 {
					b.Fatal(r, err)
				}
			}
		})
	}
}
