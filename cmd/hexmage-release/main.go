// Command hexmage-release makes the archives that users download. It is package release; nothing else is here.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/hexmage/hexmage/cmd/hexmage-release/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := release.Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
