//go:build linux

package remote_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/store"
	diskstore "github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// What BuildGrid has beside the cache where it runs actions.
const (
	buildGridSchedules = `connections:
  - !sql-connection &sql
    connection-string: %s
schedulers:
  - !sql-scheduler &actions
    sql: *sql
    storage: *cas
    action-cache: *results
    poll-interval: 0.05
    bot-poll-interval: 0.05
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.05
`
	buildGridServices = `      - !execution
        scheduler: *actions
      - !bots
        scheduler: *actions
thread-pool-size: 100
`
)

// database starts PostgreSQL, which wants no user root, and sets up BuildGrid's tables. It returns how BuildGrid
// reaches it.
func (b *buildGrid) database(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(toolchaintest.Root(t, "postgresql"), "pgserver", "pginstall", "bin")
	dir := t.TempDir()
	as := func(program string, args ...string) *exec.Cmd {
		return exec.Command(bubblewrap(t),
			append([]string{"--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-pid", "--die-with-parent",
				"--dev-bind", "/", "/", "--proc", "/proc", filepath.Join(bin, program)}, args...)...)
	}
	if out, err := as("initdb", "--auth=trust", "--username=grid", "--no-sync",
		"--pgdata="+dir).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	b.runs(t, as("postgres", "-D", dir, "-h", "127.0.0.1", "-p", port, "-F", "-c", "unix_socket_directories="))
	listens(t, address)
	to := "postgresql+psycopg://grid@" + address + "/postgres"
	var out []byte
	for range 100 { // it listens before it lets anybody in
		if out, err = exec.Command(filepath.Join(b.programs, "bgd"), "migrate", "apply",
			to).CombinedOutput(); err == nil {
			return to
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("BuildGrid's tables: %v: %s", err, out)
	return ""
}

// bots starts what takes actions of BuildGrid, and has buildbox-run run them, as at casd.
func (b *buildGrid) bots(t *testing.T, n int) {
	t.Helper()
	certificate, key := b.ca.sign(t, b.dir, "bot")
	login := filepath.Join(b.dir, "token")
	if err := os.WriteFile(login, []byte(token(b.secret, time.Now().Add(time.Hour))), 0o600); err != nil {
		t.Fatal(err)
	}
	ca, run := filepath.Join(b.dir, "ca.pem"), filepath.Join(filepath.Dir(toolchaintest.Casd(t)), "buildbox-run")
	args := []string{filepath.Join(Repo(), "cmd/hexmage/e2e/remote/testdata/bot.py"), b.address, "main", ca,
		certificate, key, login, strconv.Itoa(n),
		run, "--remote=https://" + b.address, "--instance=main", "--server-cert=" + ca,
		"--client-cert=" + certificate, "--client-key=" + key, "--access-token=" + login, "--disable-localcas",
		"--log-level=warning"}
	cmd := exec.Command(filepath.Join(b.programs, "python3"), append(args, baseSystem()...)...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bubblewrap(t))+":/usr/bin:/bin")
	b.runs(t, cmd)
}

// TestRemoteExecutorBuildGrid: what local executors do for actions is done for those at BuildGrid, too, over TLS and
// with a token.
func TestRemoteExecutorBuildGrid(t *testing.T) {
	b := startBuildGrid(t, 4)
	certificate, key := b.ca.sign(t, t.TempDir(), "client")
	t.Run("suite", func(t *testing.T) {
		executetest.Run(t, "*remote.Executor", func(t *testing.T) executetest.Setup {
			return remoteSetup(t, remote.Options{Address: "grpcs://" + b.address, Instance: "main",
				TLS:     remote.TLS{CA: filepath.Join(b.dir, "ca.pem"), Certificate: certificate, Key: key},
				Headers: map[string]string{"authorization": "Bearer " + token(b.secret, time.Now().Add(time.Hour))}})
		})
	})
	one := farWorld(t)
	one.RunJSON(t, "p")
	use := func(more ...string) *World {
		w := farWorld(t)
		share(t, w, "grpcs://"+b.address,
			append(more, executes, `instance = "main"`, `headers = { authorization = "Bearer ${env.TEAM_TOKEN}" }`,
				fmt.Sprintf("tls {\n ca = %q\n certificate = %q\n key = %q\n}", filepath.Join(b.dir, "ca.pem"),
					certificate, key))...)
		w.Env = append(w.Env, "TEAM_TOKEN="+token(b.secret, time.Now().Add(time.Hour)))
		return w
	}
	t.Run("pipeline", func(t *testing.T) {
		two := use(`platform = { OSFamily = "linux" }`)
		r := two.RunJSON(t, "p")
		if there, here := counted(t, r.Outcome); there != 3 || here != 1 {
			t.Errorf("%d actions ran there, %d here: %s", there, here, r)
		}
		if !strings.Contains(r.Stdout, "waits for a worker of remote team") {
			t.Errorf("it does not say that an action waits: %s", r)
		}
		sameOut(t, one, two, "p")
	})
	t.Run("no such machine", func(t *testing.T) { // which BuildGrid refuses
		two := use(`platform = { nobody = "has this" }`)
		r := two.RunJSON(t, "p")
		if there, here := counted(t, r.Outcome); there != 0 || here != 4 ||
			strings.Count(r.Stderr, "remote team could not run an action") != 1 ||
			!strings.Contains(r.Stderr, "nobody") {
			t.Errorf("%d actions ran there, %d here: %s", there, here, r)
		}
		sameOut(t, one, two, "p")
	})
	if t.Failed() {
		t.Logf("%s", b.log.Bytes())
	}
}

// remoteSetup is of an Executor of a server that nothing is to be said of.
func remoteSetup(t *testing.T, o remote.Options) executetest.Setup {
	t.Helper()
	blobs, err := diskstore.NewBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.IdleTimeout, o.Retries, o.Execute, o.Say = "team", remote.DefaultIdleTimeout, 2,
		true, func(text string) { t.Error(text) }
	client, err := remote.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	far := remote.NewBlobs(blobs, client, nil)
	files := store.WithHostFiles(far)
	x := remote.NewExecutor(client, remote.ExecutorOptions{Inputs: files, Blobs: far})
	return executetest.Setup{Executor: x, Store: files, Fn: digest.SHA256, NoSecrets: true, Silent: true,
		Alive: executetest.ProcessAlive}
}
