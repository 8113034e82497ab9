// Command hexmage-engine is what does hexmage's work: all commands and what they need. People run hexmage, which finds it beside itself. It is package
// cli; nothing else is here.
package main

import (
	"os"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, cli.System()))
}
