// Command hexmage-release makes the downloads of a release: an archive and a CycloneDX SBOM for each system, and a file
// of checksums.
//
// The same commit and Go version give the same bytes, because files are sorted and have the commit's time
// (docs/design/0013-dependencies-and-releases.md). Go stamps the version into programs from the git tag. The command
// does not know hexmage's features.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// main makes a release of the repository in the working directory, and prints the paths of its files.
func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	out := flag.String("o", "dist", "write the archives to `FOLDER`, and remove older archives")
	only := flag.String("only", strings.Join(targets(), ","), "make archives only for these `SYSTEMS`")
	flag.Parse()
	chosen := strings.Split(*only, ",")
	for _, t := range append(chosen, flag.Args()...) {
		if !slices.Contains(targets(), t) {
			fmt.Fprintf(os.Stderr, "hexmage-release: unknown system %q. Available: %v\n", t, targets())
			os.Exit(2)
		}
	}
	files, err := makeRelease(ctx, *out, chosen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hexmage-release:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(files, "\n"))
}
