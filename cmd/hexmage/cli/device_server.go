package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/steps/devices"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// adbAddress returns the address of the user's adb server, from adb's own variables.
func (a *app) adbAddress() (network, address string, err error) {
	if s := a.Env.Var("ADB_SERVER_SOCKET"); s != "" {
		kind, at, _ := strings.Cut(s, ":")
		switch {
		case kind == "localfilesystem" && at != "":
			return "unix", at, nil
		case kind == "tcp" && at != "":
			if !strings.Contains(at, ":") {
				at = "127.0.0.1:" + at
			}
			return "tcp", at, nil
		}
		return "", "", usageError("ADB_SERVER_SOCKET=%s: invalid address; use tcp:HOST:PORT, tcp:PORT or "+
			"localfilesystem:PATH", s)
	}
	host, port, _ := net.SplitHostPort(adbServer)
	return "tcp", net.JoinHostPort(cmp.Or(a.Env.Var("ANDROID_ADB_SERVER_ADDRESS"), host),
		cmp.Or(a.Env.Var("ANDROID_ADB_SERVER_PORT"), port)), nil
}

// adbStartWait is the time limit for a start of the adb server.
const adbStartWait = 20 * time.Second

// adbServer returns the user's adb server, and starts it if necessary. The server outlives this process, so that
// devices stay connected.
func (a *app) adbServer(ctx context.Context) (*adb.Client, error) {
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	c, asked := a.runningADB(ctx)
	if asked == nil {
		return c, nil
	}
	if s := (pool.Server{Network: network, Address: address}); !s.Local() { // hexmage starts local servers only
		return nil, engineError(s.Silent(asked))
	}
	o, err := a.findADB(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, adbStartWait)
	defer cancel()
	_, port, _ := net.SplitHostPort(address)
	where := "tcp:" + port // adb takes an address with a host for another machine, and then does not start a server
	if network == "unix" {
		where = "localfilesystem:" + address
	}
	cmd := exec.CommandContext(ctx, o.Path, "-L", where, "start-server")
	// The server outlives this command, and secrets are useless to it.
	cmd.Env = a.varsWithoutSecrets()
	if o.LibraryPath != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+o.LibraryPath)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second // the server may keep the pipe
	started := cmd.Run()
	_, asked = c.Version(ctx)
	switch {
	case asked != nil && started != nil && ctx.Err() == nil:
		return nil, engineError(fmt.Errorf("cannot start the adb server with %s: %w: %s", o.Path, started,
			bytes.TrimSpace(said.Bytes())))
	case asked != nil:
		return nil, engineError(asked)
	}
	return c, nil
}

// runningADB returns the user's adb server, or an error if it does not run.
func (a *app) runningADB(ctx context.Context) (*adb.Client, error) {
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	c := adb.NewClient(network, address)
	_, err = c.Version(ctx)
	return c, err
}

// varsWithoutSecrets returns the environment for programs that need no secrets.
func (a *app) varsWithoutSecrets() []string {
	return slices.DeleteFunc(slices.Clone(a.Env.Vars),
		func(kv string) bool { return strings.HasPrefix(kv, sources.SecretPrefix) })
}

// inPath returns the path of a program in the user's PATH, or "".
func (a *app) inPath(name string) string {
	for _, dir := range filepath.SplitList(a.Env.Var("PATH")) {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && filepath.IsAbs(p) {
			return p
		}
	}
	return ""
}

// findADB returns the user's adb program, else that of the catalog's toolchain.
func (a *app) findADB(ctx context.Context) (adb.Options, error) {
	if p := a.inPath("adb"); p != "" {
		return adb.Options{Path: p}, nil
	}
	for _, name := range []string{"ANDROID_HOME", "ANDROID_SDK_ROOT"} {
		if dir := a.Env.Var(name); dir != "" {
			if o, err := runner.FindADB(dir); err == nil {
				return o, nil
			}
		}
	}
	l, err := a.find(ctx, "adb", "")
	if err != nil {
		where := ""
		if s := a.Env.Var("ADB_SERVER_SOCKET"); s != "" {
			where = " at " + s + " (ADB_SERVER_SOCKET)"
		}
		return adb.Options{}, usageError("cannot find adb. No adb server is running%s, adb is not in PATH or "+
			"ANDROID_HOME, and %w", where, err)
	}
	o, err := runner.FindADB(l.Path)
	if err != nil {
		return o, engineError(err)
	}
	return o, nil
}

// deviceFile reads the list of the user's devices. A missing file is an empty list, unless a variable names it.
func (a *app) deviceFile() (devices.File, error) {
	path, dir := a.Env.Var("HEXMAGE_DEVICES"), a.configDir()
	named := path != ""
	switch {
	case named:
		path = absolute(a.Env.Dir, path)
	case dir == "":
		return devices.File{}, nil
	default:
		path = filepath.Join(dir, "devices.hcl")
	}
	src, err := boundedfile.Read(path, lang.MaxSource)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return devices.File{}, nil
	}
	if err != nil {
		return devices.File{}, usageError("read the list of devices: %w", err)
	}
	f, diags := devices.Parse(src, path)
	if diags.HasErrors() {
		return devices.File{}, a.printDiags(diags, map[string]*hcl.File{path: {Bytes: src}})
	}
	return f, nil
}

// ssh returns the options for the user's boards and other hosts.
func (a *app) ssh() ssh.Options {
	o := ssh.Options{Program: a.inPath("ssh"), Env: a.varsWithoutSecrets(), Dir: filepath.Join(a.deviceState(), "ssh")}
	if dir := a.Env.Var("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && isFolder(dir) {
		o.Dir = filepath.Join(dir, "hexmage") // the path of a socket must be short
	}
	return o
}
