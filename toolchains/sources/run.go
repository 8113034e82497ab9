package sources

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/vendorcli"
)

// Run is the tool's main: `fetch --spec FILE --out PATH`, with args after the tool's name. Progress goes to stderr as
// lines "progress DONE TOTAL TEXT", warnings as "warning: TEXT". It returns the exit code: 0, 1 when fetching failed, 2
// for wrong arguments.
func Run(ctx context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet(Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	specFile := flags.String("spec", "", "`file` with the spec, as JSON")
	out := flags.String("out", "", "`path` to make")
	downloads := flags.String("downloads", "", "`folder` that keeps downloads")
	offline := flags.Bool("offline", false, "ask no network")
	netrc := flags.String("netrc", "", "`file` with logins of hosts")
	mirrors := flags.String("mirrors", "", "what to ask in place of other `addresses`: https://from/=https://to/ …")
	home := flags.String("home", "", "the user's home `folder`, where the vendor's clients keep who is logged in")
	search := flags.String("search", "", "`folders` of programs, as in PATH")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *specFile == "" || *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, errUsage)
		return 2
	}
	f, err := os.Open(*specFile)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	defer f.Close()
	spec, err := decode(f)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if *downloads == "" { // nothing is kept then
		dir, err := os.MkdirTemp("", "hexmage-fetch-*")
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		*downloads = dir
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	lines := &progressLines{w: stderr, now: time.Now}
	o := Options{Downloads: *downloads, Offline: *offline, Progress: lines.progress, Warn: lines.warn, Secret: secrets(ctx),
		Vendor: vendorcli.Client{Home: *home, Search: filepath.SplitList(*search), Env: proxies(ctx)}}
	if o.Mirrors, err = fetch.ParseMirrors(*mirrors); err == nil {
		o.Logins, err = fetch.NetrcFile(*netrc)
	}
	if err == nil {
		err = Fetch(ctx, spec, *out, o)
	}
	if err != nil {
		lines.print(err.Error() + "\n")
		return 1
	}
	return 0
}

type environKey struct{}

// WithEnviron returns a context whose Run takes secrets (HEXMAGE_VAR_name) and proxies from environ, lines NAME=value.
func WithEnviron(ctx context.Context, environ []string) context.Context {
	return context.WithValue(ctx, environKey{}, environ)
}

func secrets(ctx context.Context) func(string) (string, bool) {
	environ, _ := ctx.Value(environKey{}).([]string)
	return func(name string) (string, bool) {
		for _, kv := range environ {
			if value, ok := strings.CutPrefix(kv, SecretPrefix+name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// SecretPrefix is what the names of the user's variables begin with in the environment.
const SecretPrefix = "HEXMAGE_VAR_"

func proxies(ctx context.Context) []string {
	environ, _ := ctx.Value(environKey{}).([]string)
	var ps []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToLower(name) {
		case "http_proxy", "https_proxy", "no_proxy":
			ps = append(ps, kv)
		}
	}
	return ps
}
