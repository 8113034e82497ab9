package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/steps/devices"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// adbAddress is where the user's adb server listens, by the variables that adb itself reads.
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
		return "", "", usageError("ADB_SERVER_SOCKET=%s: want tcp:HOST:PORT, tcp:PORT or localfilesystem:PATH", s)
	}
	host, port, _ := net.SplitHostPort(adbServer)
	if h := a.Env.Var("ANDROID_ADB_SERVER_ADDRESS"); h != "" {
		host = h
	}
	if p := a.Env.Var("ANDROID_ADB_SERVER_PORT"); p != "" {
		port = p
	}
	return "tcp", net.JoinHostPort(host, port), nil
}

// adbStartWait is how long adb may take to start its server.
const adbStartWait = 20 * time.Second

// adbServer returns the user's adb server, and starts it if it does not run. It outlives this process, so devices stay
// connected.
func (a *app) adbServer(ctx context.Context) (*adb.Client, error) {
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	c := adb.NewClient(network, address)
	_, asked := c.Version(ctx)
	if asked == nil {
		return c, nil
	}
	if s := (pool.Server{Network: network, Address: address}); !s.Local() { // hexmage starts none on other machines
		return nil, engineError(s.Silent(asked))
	}
	o, err := a.findADB(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, adbStartWait)
	defer cancel()
	_, port, _ := net.SplitHostPort(address)
	where := "tcp:" + port // with a host it would be another machine to adb, where it starts nothing
	if network == "unix" {
		where = "localfilesystem:" + address
	}
	cmd := exec.CommandContext(ctx, o.Path, "-L", where, "start-server")
	// The server outlives this command and needs no secrets.
	cmd.Env = a.varsWithoutSecrets()
	if o.LibraryPath != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+o.LibraryPath)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second // the server may keep the pipe
	if err := cmd.Run(); err != nil && ctx.Err() == nil && !isRunning(ctx, c) {
		return nil, engineError(fmt.Errorf("start the adb server with %s: %w: %s", o.Path, err,
			bytes.TrimSpace(said.Bytes())))
	}
	if _, err := c.Version(ctx); err != nil {
		return nil, engineError(err)
	}
	return c, nil
}

// runningADB returns the user's adb server, if it runs.
func (a *app) runningADB(ctx context.Context) (*adb.Client, error) {
	network, address, err := a.adbAddress()
	if err != nil {
		return nil, err
	}
	c := adb.NewClient(network, address)
	_, err = c.Version(ctx)
	return c, err
}

// varsWithoutSecrets returns the environment for programs that have no use for secrets.
func (a *app) varsWithoutSecrets() []string {
	return slices.DeleteFunc(slices.Clone(a.Env.Vars),
		func(kv string) bool { return strings.HasPrefix(kv, sources.SecretPrefix) })
}

// inPath returns the program of a name in the user's PATH, or "".
func (a *app) inPath(name string) string {
	for _, dir := range filepath.SplitList(a.Env.Var("PATH")) {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && filepath.IsAbs(p) {
			return p
		}
	}
	return ""
}

func isRunning(ctx context.Context, c *adb.Client) bool {
	_, err := c.Version(ctx)
	return err == nil
}

// findADB finds the adb program: the user's, else that of the catalogue's toolchain.
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
			where = " at " + s + ", as ADB_SERVER_SOCKET says"
		}
		return adb.Options{}, usageError("no adb server runs%s, and no adb was found in PATH or ANDROID_HOME: %w",
			where, err)
	}
	o, err := runner.FindADB(l.Path)
	if err != nil {
		return o, engineError(err)
	}
	return o, nil
}

// poolPath is where the user's phones are listed, and whether the user said so by a variable: then the file has to be
// there.
func (a *app) poolPath() (path string, named bool) {
	if p := a.Env.Var("HEXMAGE_DEVICES"); p != "" {
		return absolute(a.Env.Dir, p), true
	}
	dir := a.configDir()
	if dir == "" {
		return "", false
	}
	return filepath.Join(dir, "devices.hcl"), false
}

// deviceFile reads the list of the user's phones. Without one it is empty.
func (a *app) deviceFile() (devices.File, error) {
	path, named := a.poolPath()
	if path == "" {
		return devices.File{}, nil
	}
	src, err := boundedfile.Read(path, lang.MaxSource)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return devices.File{}, nil
	}
	if err != nil {
		return devices.File{}, usageError("the list of devices: %w", err)
	}
	f, diags := devices.Parse(src, path)
	if diags.HasErrors() {
		return devices.File{}, a.printDiags(diags, map[string]*hcl.File{path: {Bytes: src}})
	}
	return f, nil
}

// ssh is how hexmage reaches the user's boards and other hosts.
func (a *app) ssh() ssh.Options {
	o := ssh.Options{Program: a.inPath("ssh"), Env: a.varsWithoutSecrets(), Dir: filepath.Join(a.deviceState(), "ssh")}
	dir := a.Env.Var("XDG_RUNTIME_DIR")
	if st, err := os.Stat(dir); filepath.IsAbs(dir) && err == nil && st.IsDir() {
		o.Dir = filepath.Join(dir, "hexmage") // the path of a socket has to be short
	}
	return o
}

// reach is how the user's phones and boards are reached.
func (a *app) reach() pool.Reach { return pool.Reach{Server: a.adbServer, SSH: a.ssh()} }

// inPool finds the user's phone with a name or serial.
func (a *app) inPool(serial string) (pool.Device, bool, error) {
	f, err := a.deviceFile()
	if err != nil || serial == "" {
		return pool.Device{}, false, err
	}
	d, ok := pool.New(f.Devices).Find(serial)
	return d, ok, nil
}

// onSerial is kind run with the user's choice of a device, which counts more than the pipeline's. It is part of the
// actions' keys: what was measured on another phone is not the answer.
type onSerial struct {
	step.Kind
	serial string
}

func (k onSerial) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	p, diags := k.Kind.Plan(r)
	k.choose(p.Specs)
	if expand := p.Expand; expand != nil {
		p.Expand = func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
			specs, outputs, err := expand(l)
			k.choose(specs)
			return specs, outputs, err
		}
	}
	return p, diags
}

func (k onSerial) choose(specs []action.Spec) {
	for i, s := range specs {
		if s.Platform[action.PropertyExecutor] == runner.Executor {
			specs[i].Platform = maps.Clone(s.Platform)
			specs[i].Platform[runner.PropertySerial] = k.serial
		}
	}
}
