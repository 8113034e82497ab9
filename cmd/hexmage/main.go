// Command hexmage builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. It does
// not know how: package cli has all of it.
package main

import (
	"os"
	"runtime/debug"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// gcPercent halves how often garbage is collected while a plan of a few megabytes is made: it is a tenth of the time
// until an edited source is compiled.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Main(os.Args, cli.System()))
}
