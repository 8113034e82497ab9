// Command hexmage-bench measures hexmage against ninja and make. It is package bench; nothing else is here.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/hexmage/hexmage/cmd/hexmage-bench/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := bench.Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
