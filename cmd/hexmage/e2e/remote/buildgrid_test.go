//go:build linux

package remote_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// buildGrid is another server that others wrote: BuildGrid, over TLS, which wants a client's certificate and a token.
type buildGrid struct {
	dir, address string
	programs     string // the folder of its environment's programs
	secret       []byte
	ca           *authority
	log          bytes.Buffer
}

// buildGridPipeline is what hexmage itself brings it by, pinned by testdata/buildgrid.lock.hcl.
const buildGridPipeline = `toolchain "buildgrid" {
  python       = "3.13"
  requirements = ["buildgrid==0.9.1"]
  exclude_newer = "2026-11-20"
}
output "buildgrid" { value = toolchain.buildgrid.dir }
`

const buildGridConfig = `server:
  - !channel
    address: "%s"
    insecure-mode: false
    credentials: { tls-server-key: server.key, tls-server-cert: server.pem, tls-client-certs: ca.pem }
authorization: { method: jwt, secret: secret, algorithm: hs256, audience: team }
storages:
  - !disk-storage &cas
    path: cas
caches:
  - !lru-action-cache &results
    storage: *cas
    max-cached-refs: 256
    allow-updates: true
    cache-failed-actions: false
%sinstances:
  - name: main
    services:
      - !action-cache
        cache: *results
      - !cas
        storage: *cas
      - !bytestream
        storage: *cas
%s`

// The workspace that brought BuildGrid, and that run: once for all tests.
var (
	gridOnce sync.Once
	grid     *World
	brought  *Outcome
)

// startBuildGrid starts it, with as many bots, that run actions one at a time.
func startBuildGrid(t *testing.T, bots int) *buildGrid {
	t.Helper()
	gridOnce.Do(func() {
		grid = LastingWorld(t)
		grid.Write(t, "pipelines/buildgrid.hcl", buildGridPipeline)
		grid.Write(t, "hexmage.lock.hcl",
			Read(t, filepath.Join(Repo(), "cmd/hexmage/e2e/remote/testdata/buildgrid.lock.hcl")))
		brought = grid.Run(t, "run", "buildgrid")
	})
	w := grid
	switch o := brought; o.Code {
	case ExitOK:
	case ExitEngine:
		t.Skipf("NOT TESTED: this machine reaches no package index, for BuildGrid: %s", o)
	default:
		t.Fatal(o)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &buildGrid{dir: t.TempDir(), address: l.Addr().String(),
		programs: filepath.Join(w.Dir, "out/buildgrid/buildgrid/bin"),
		secret:   []byte("what the server and who signs tokens know"), ca: newAuthority(t)}
	l.Close()
	b.ca.sign(t, b.dir, "server")
	schedules, services := "", ""
	if bots > 0 {
		schedules, services = fmt.Sprintf(buildGridSchedules, b.database(t)), buildGridServices
	}
	for name, content := range map[string][]byte{"ca.pem": b.ca.pem, "secret": b.secret,
		"bgd.yml": fmt.Appendf(nil, buildGridConfig, b.address, schedules, services)} {
		if err := os.WriteFile(filepath.Join(b.dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.runs(t, exec.Command(filepath.Join(b.programs, "bgd"), "server", "start", "bgd.yml"))
	listens(t, b.address)
	if bots > 0 {
		b.bots(t, bots)
	}
	return b
}

// runs has a program run in its folder until the test ends.
func (b *buildGrid) runs(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, &b.log, &b.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killSession(cmd.Process.Pid)
		_ = cmd.Wait()
	})
}

// listens waits until somebody does at the address.
func listens(t *testing.T, address string) {
	t.Helper()
	for range 600 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nobody listens at %s", address)
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the team"},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if of, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return &authority{of, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// sign writes a certificate of who is at 127.0.0.1, NAME.pem, and its key, NAME.key, into the folder.
func (a *authority) sign(t *testing.T, dir, name string) (certificate, key string) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, of, a.certificate, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for at, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(at, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// token is a JWT that says who sends it, until then.
func token(secret []byte, until time.Time) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"ci","aud":"team","exp":%d}`, until.Unix()))
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// helper writes a credential helper that says the tokens, one each time that it is asked, and the last one from then
// on.
func helper(t *testing.T, tokens ...string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "helper")
	text := "#!/bin/sh\necho x >> $0.asked\nn=0; while read -r _; do n=$((n+1)); done < $0.asked\ncase $n in\n"
	for i, token := range tokens {
		n := strconv.Itoa(i + 1)
		if i == len(tokens)-1 {
			n = "*"
		}
		text += n + ") token=" + token + ";;\n"
	}
	text += "esac\necho '{\"headers\": {\"authorization\": [\"Bearer '$token'\"]}}'\n"
	if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestRemoteBuildGrid: a server over TLS, that wants to know who asks, is a cache for who it lets, and one sentence
// for who it does not.
func TestRemoteBuildGrid(t *testing.T) {
	b := startBuildGrid(t, 0)
	dir := t.TempDir()
	ca := filepath.Join(b.dir, "ca.pem")
	certificate, key := b.ca.sign(t, dir, "client")
	other := newAuthority(t)
	otherCA := filepath.Join(dir, "other.pem")
	if err := os.WriteFile(otherCA, other.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	otherCertificate, otherKey := other.sign(t, dir, "stranger")
	tls := func(ca, certificate, key string) string {
		return fmt.Sprintf("tls {\n ca = %q\n certificate = %q\n key = %q\n}", ca, certificate, key)
	}
	right, late := token(b.secret, time.Now().Add(time.Hour)), token(b.secret, time.Now().Add(-time.Hour))
	forged := token([]byte("of somebody else who does not know it"), time.Now().Add(time.Hour))
	const header = "headers = { authorization = \"Bearer ${env.TEAM_TOKEN}\" }"
	use := func(token string, more ...string) *World { // of the whole test: at its end they are searched
		w := largeWorld(t)
		share(t, w, "grpcs://"+b.address, append(more, `instance = "main"`)...)
		w.Env = []string{"TEAM_TOKEN=" + token, "HEXMAGE_DIGEST=sha256"}
		return w
	}
	one := use(right, tls(ca, certificate, key), header, uploads)
	first := one.RunJSON(t, "p")
	saysOnce(t, first.Outcome)
	asked := helper(t, late, right)
	worlds := []*World{one}
	for _, c := range []struct {
		name     string
		token    string
		more     []string
		executed int
		says     []string
	}{
		{"right", right, []string{tls(ca, certificate, key), header}, 0, nil},
		{"a helper whose token is over", "",
			[]string{tls(ca, certificate, key), fmt.Sprintf("credential_helper = [%q]", asked)}, 0, nil},
		{"an expired token", late, []string{tls(ca, certificate, key), header}, 3,
			[]string{"remote team is disabled", "denies access", "headers"}},
		{"a forged token", forged, []string{tls(ca, certificate, key), header}, 3,
			[]string{"remote team is disabled", "denies access"}},
		{"no token", "", []string{tls(ca, certificate, key)}, 3, []string{"remote team is disabled", "denies access"}},
		{"nobody's certificate", right, []string{fmt.Sprintf("tls {\n ca = %q\n}", ca), header}, 3,
			[]string{"remote team is disabled", "is unreachable", "`tls` of remote team"}},
		{"a stranger's certificate", right, []string{tls(ca, otherCertificate, otherKey), header}, 3,
			[]string{"remote team is disabled", "is unreachable", "`tls` of remote team"}},
		{"another server's certificate", right, []string{tls(otherCA, certificate, key), header}, 3,
			[]string{"remote team is disabled", "certificate signed by unknown authority", "`tls` of remote team"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := use(c.token, c.more...)
			worlds = append(worlds, w)
			r := w.RunJSON(t, "p")
			t.Logf("%v: %s", r.Took, r.Stderr)
			if r.Executed != c.executed || r.Took > 10*time.Second {
				t.Errorf("executed %q in %v", r.Names, r.Took)
			}
			saysOnce(t, r.Outcome, c.says...)
			sameOut(t, one, w, "p")
		})
	}
	if n := strings.Count(Read(t, asked+".asked"), "x"); n != 2 {
		t.Errorf("the helper was asked %d times", n)
	}
	t.Run("nowhere", func(t *testing.T) {
		for _, w := range worlds {
			exported := w.Run(t, "runs", "--export", "@1")
			Wants(t, exported, ExitOK, "hexmage-run/1")
			w.Write(t, "run.json", exported.Stdout)
		}
		nowhere(t, []string{right, late, forged, strings.Split(Read(t, key), "\n")[1]},
			append([]string{b.dir}, foldersOf(worlds)...)...)
		for _, token := range []string{right, late, forged} {
			if strings.Contains(b.log.String(), token) {
				t.Errorf("%s is in the server's log", token)
			}
		}
	})
}
