// Command hexmage builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. It does
// not know how: package cli has all of it.
package main

import (
	"os"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

func main() { os.Exit(cli.Main(os.Args, cli.System())) }
