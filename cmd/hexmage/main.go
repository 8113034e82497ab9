// Command hexmage builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. Package cli
// implements the commands, and main does not know them.
package main

import (
	"os"
	"runtime/debug"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// gcPercent is twice Go's default, at which garbage collection takes a tenth of a plan's processor time.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Main(os.Args, cli.System()))
}
