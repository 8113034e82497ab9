package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// Environment variables that describe the user to the tool. Package fetch has the variables that describe the machine.
const (
	EnvHome      = "HEXMAGE_USER_HOME" // the user's home, with the login of Qualcomm's clients and the configuration of pip and Maven
	EnvSearch    = "HEXMAGE_USER_PATH" // the user's PATH, for Qualcomm's clients
	SecretPrefix = "HEXMAGE_VAR_"      // prefix of the variables with the user's secrets
)

// Run writes the spec's result to Spec.Out. On stderr, it writes progress as lines "progress DONE TOTAL TEXT" and
// warnings as "warning: TEXT".
func Run(ctx context.Context, spec Spec, env tool.Env) error {
	if spec.Out == "" {
		return fmt.Errorf("%s: the request has no output path (out)", spec.Name)
	}
	var m fetch.Machine
	if spec.File == "" { // a local file needs no request, and none of the user's settings
		var err error
		if m, err = fetch.MachineOf(env.Var); err != nil {
			return err
		}
	}
	if m.Downloads == "" { // no download is kept
		dir, err := os.MkdirTemp("", "hexmage-fetch-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		m.Downloads = dir
	}
	if err := os.MkdirAll(filepath.Dir(spec.Out), 0o755); err != nil {
		return err
	}
	lines := &progressLines{w: env.Stderr, now: time.Now}
	secret := func(name string) (string, bool) {
		for _, kv := range env.Vars {
			if value, ok := strings.CutPrefix(kv, SecretPrefix+name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
	o := Options{Downloads: m.Downloads, Offline: m.Offline, Mirrors: m.Mirrors, Logins: m.Logins, Getenv: env.Var, Home: env.Var(EnvHome), Progress: lines.progress, Warn: lines.warn, Secret: secret,
		Vendor: qpm.Client{Home: env.Var(EnvHome), Search: filepath.SplitList(env.Var(EnvSearch)), Env: Proxies(env.Vars)}}
	if err := Fetch(ctx, spec, spec.Out, o); err != nil {
		lines.print(err.Error() + "\n")
		if fetch.Unreachable(err) {
			return errors.Join(tool.ErrSaid, tool.ErrUnable)
		}
		return tool.ErrSaid
	}
	if spec.License != "" {
		lines.warn("license of " + spec.Name + ": " + spec.License)
	}
	return nil
}

// Proxies returns the proxy variables in environ. Qualcomm's clients receive no other variables.
func Proxies(environ []string) []string {
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
