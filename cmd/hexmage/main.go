// Command hexmage builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. Where there is nothing to do, it says so itself;
// else it becomes hexmage-engine (docs/design/0018-front.md). It is package front; nothing else is here.
package main

import (
	"fmt"
	"os"

	"github.com/hexmage/hexmage/cmd/hexmage/front"
)

func main() {
	front.TakeStack()
	env, err := front.FrontSystem()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hexmage:", err)
		os.Exit(front.ExitEngine)
	}
	os.Exit(front.Main(os.Args, env, func() int {
		code, err := env.Become(os.Args)
		if err != nil {
			fmt.Fprintln(os.Stderr, "hexmage:", err)
			return front.ExitEngine
		}
		return code
	}))
}
