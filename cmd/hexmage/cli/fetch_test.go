package cli_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// A secret goes to the server that wants it, and is in no key, no file, no line that is printed, and no other command.
func TestSecret(t *testing.T) {
	const secret = "s3cr3t-t0ken"
	body := []byte("an SDK")
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer "+secret {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"message": "not you: %s"}`, r.Header.Get("Authorization"))
			return
		}
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	sum := sha256.Sum256(body)
	root := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("ws/pipelines/p.hcl", fmt.Sprintf(`
variable "vendor_token" {
  type      = string
  default   = ""
  sensitive = true
}
step "fetch" "sdk" {
  url    = "%s/sdk.bin"
  sha256 = "%s"
  header "Authorization" {
    variable = "vendor_token"
    prefix   = "Bearer "
  }
}
step "exec" "env" {
  argv = ["sh", "-c", "env > all; cat $1", "sh", step.fetch.sdk.outputs.file]
  output "all" { file = "all" }
}
output "env" { value = step.exec.env.outputs.all }
`, srv.URL, hex.EncodeToString(sum[:])))
	cache := filepath.Join(root, "cache")
	run := func(token string, args ...string) (int, string) {
		var out bytes.Buffer
		env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: filepath.Join(root, "ws"),
			Self: os.Args[0],
			Vars: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "HEXMAGE_CACHE=" + cache}}
		if token != "" {
			env.Vars = append(env.Vars, "HEXMAGE_VAR_vendor_token="+token)
		}
		code := cli.Main(append([]string{"hexmage", "run", "p"}, args...), env)
		return code, out.String()
	}
	if code, out := run(""); code != cli.ExitFailed || !strings.Contains(out, "HEXMAGE_VAR_vendor_token") {
		t.Errorf("without it: exit code %d: %s", code, out)
	}
	if code, out := run("wr0ng-t0ken"); code != cli.ExitFailed || !strings.Contains(out, "not you: (sensitive)") ||
		strings.Contains(out, "wr0ng") {
		t.Errorf("with another: exit code %d: %s", code, out)
	}
	code, out := run(secret, "--trace", filepath.Join(root, "trace.json"))
	if code != 0 || strings.Contains(out, secret) {
		t.Fatalf("exit code %d: %s", code, out)
	}
	before := requests.Load()
	if code, out := run("", "--json"); code != 0 || requests.Load() != before { // the key has nothing of it
		t.Errorf("again: exit code %d, %d requests: %s", code, requests.Load()-before, out)
	}
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(p)
		if bytes.Contains(b, []byte("t0ken")) {
			t.Errorf("%s has it", p)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}

// How far a download is, how fast it comes and when it will be there is said; and it comes from the mirror that the
// user names.
func TestProgressAndMirror(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 3<<16) // 3 MiB
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		for b := body; len(b) > 0; b = b[1<<16:] {
			_, _ = w.Write(b[:1<<16])
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	}))
	defer srv.Close()
	sum := sha256.Sum256(body)
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "pipelines"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("step \"fetch\" \"sdk\" {\n  url = \"https://sdk.invalid/files/sdk.bin\"\n  sha256 = "+
		"%q\n}\noutput \"sdk\" { value = step.fetch.sdk.outputs.file }\n", hex.EncodeToString(sum[:]))
	if err := os.WriteFile(filepath.Join(root, "pipelines", "p.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut, Dir: root, Self: os.Args[0],
		Vars: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "HEXMAGE_CACHE=" + filepath.Join(root, "cache"),
			"HEXMAGE_MIRRORS=https://sdk.invalid/=" + srv.URL + "/"}}
	if code := cli.Main([]string{"hexmage", "--json", "run", "p"}, env); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, &out, &errOut)
	}
	said := regexp.MustCompile(
		`"event":"action_progress".*"done":[1-9]\d*,"total":3145728,"unit":"bytes","text":"download, [0-9.]+ [KM]iB/s, about \d+ s left"`)
	if !said.Match(out.Bytes()) {
		t.Errorf("no event says it:\n%s", &out)
	}
}

// fetched runs a pipeline that fetches and unpacks an archive, for a user whose ~/.netrc has a login for this machine.
func fetched(t *testing.T, url string, archive []byte) (code int, said, root string) {
	t.Helper()
	root = t.TempDir()
	sum := sha256.Sum256(archive)
	text := fmt.Sprintf("step \"fetch\" \"sdk\" {\n  url    = %q\n  sha256 = %q\n  unpack = true\n}\noutput \"sdk\" "+
		"{ value = step.fetch.sdk.outputs.dir }\n", url, hex.EncodeToString(sum[:]))
	for name, body := range map[string]string{"ws/pipelines/p.hcl": text,
		"home/.netrc": "machine 127.0.0.1 login me password p4ss\n"} {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: filepath.Join(root, "ws"),
		Self: os.Args[0],
		Vars: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"),
			"HEXMAGE_CACHE=" + filepath.Join(root, "cache")}}
	code = cli.Main([]string{"hexmage", "run", "p", "--out", filepath.Join(root, "out")}, env)
	return code, out.String(), root
}

func zipped(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("bin/tool")
	if err == nil {
		_, err = w.Write([]byte("a tool"))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The user's logins serve the download, and do not keep what came from being unpacked where nothing of the user's can
// be read.
func TestNetrc(t *testing.T) {
	archive := zipped(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, word, _ := r.BasicAuth(); user != "me" || word != "p4ss" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(archive)
	}))
	defer srv.Close()
	code, said, root := fetched(t, srv.URL+"/sdk.zip", archive)
	if code != 0 || strings.Contains(said, "p4ss") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if b, err := os.ReadFile(filepath.Join(root, "out", "p", "sdk", "bin", "tool")); err != nil ||
		string(b) != "a tool" {
		t.Errorf("%q, %v", b, err)
	}
}

// A server that can't be reached is no fault of the step; one that has not the file may be.
func TestUnreachable(t *testing.T) {
	archive := zipped(t)
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	if code, said, _ := fetched(t, untrusted.URL+"/sdk.zip", archive); code != cli.ExitEngine ||
		!strings.Contains(said, "certificate") {
		t.Errorf("exit code %d: %s", code, said)
	}
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	if code, said, _ := fetched(t, empty.URL+"/sdk.zip", archive); code != cli.ExitFailed ||
		!strings.Contains(said, "404") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
