// Command fuzzall runs all fuzz targets of the repository, or of the packages that you name. It fails if a target finds
// a bug.
//
// Each target runs for the duration -time on one processor, and fuzzall uses all processors. fuzzall saves a failing
// input in the package's folder testdata/fuzz; commit this file together with the fix. `go test -fuzz` runs only one
// target at a time. fuzzall does not know the purpose of the targets.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	long := flag.Duration("time", time.Minute, "how long each target runs")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	if err := run(*long, packages); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
}

func run(long time.Duration, packages []string) error {
	list := exec.Command("go", append([]string{"test", "-list", "^Fuzz"}, packages...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go test -list: %w", err)
	}
	each := make(chan target)
	var found atomic.Int32
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for t := range each {
				// More targets than processors, since a target also waits for its compiler and first inputs.
				fuzz := exec.Command("go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+long.String(),
					"-parallel=1", t.pkg)
				said, err := fuzz.CombinedOutput()
				if err == nil {
					said = nil
				} else {
					found.Add(1)
				}
				fmt.Printf("%s %s\n%s", t.pkg, t.name, said)
			}
		})
	}
	for _, t := range targets(out) {
		each <- t
	}
	close(each)
	wg.Wait()
	if n := found.Load(); n > 0 {
		return fmt.Errorf("%d targets found something: it stands above, and in testdata/fuzz of their packages", n)
	}
	return nil
}

type target struct{ pkg, name string }

// targets parses the output of `go test -list`: the names of a package's targets precede the line with the package.
func targets(listed []byte) []target {
	var all []target
	named := 0 // targets whose package is known
	for s := bufio.NewScanner(bytes.NewReader(listed)); s.Scan(); {
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			all = append(all, target{name: fields[0]})
		case len(fields) >= 2 && fields[0] == "ok":
			for ; named < len(all); named++ {
				all[named].pkg = fields[1]
			}
		}
	}
	return all
}
