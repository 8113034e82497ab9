// Command fuzzall runs every fuzz target of the repository, or of the packages that it is given, in turn, each for -time, and fails when one found something: what it found
// is then in the package's testdata/fuzz, to be mended and committed. It does not know what any target reads. `go test -fuzz` takes one target of one package at a time.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	each := flag.Duration("time", time.Minute, "how long each target runs")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	if err := run(*each, packages); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzall:", err)
		os.Exit(1)
	}
}

func run(each time.Duration, packages []string) error {
	list := exec.Command("go", append([]string{"test", "-list", "^Fuzz"}, packages...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go test -list: %w", err)
	}
	found, targets := 0, []string{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		// The names of a package's targets come before the line that names the package.
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			targets = append(targets, fields[0])
		case len(fields) >= 2 && fields[0] == "ok":
			for _, target := range targets {
				fmt.Printf("%s %s\n", fields[1], target)
				fuzz := exec.Command("go", "test", "-run=^$", "-fuzz=^"+target+"$", "-fuzztime="+each.String(), fields[1])
				if said, err := fuzz.CombinedOutput(); err != nil {
					fmt.Printf("%s", said)
					found++
				}
			}
			targets = nil
		}
	}
	if found > 0 {
		return fmt.Errorf("%d targets found something: it stands above, and in testdata/fuzz of their packages", found)
	}
	return nil
}
