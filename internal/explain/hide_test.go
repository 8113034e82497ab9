package explain_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/explain"
)

// TestHide: what looks like a credential, and where things are on this machine, is not in what is written down for
// others; the rest stays as it is.
func TestHide(t *testing.T) {
	h := explain.NewHider(map[string]string{explain.Workspace: "/home/ana/work/ops/", "home": "/home/ana",
		"temp": "/tmp", "none": ""}, "/usr", "/bin", "/dev", "/etc", "/data/local")
	digests := regexp.MustCompile(` [0-9a-f]{4}\]`)
	for text, want := range map[string]string{
		"":                                     "",
		"-O2 --tokens 128 max_tokens=5 a:b@c":  "-O2 --tokens 128 max_tokens=5 a:b@c",
		"tokens.json secretary=x key=y":        "tokens.json secretary=x key=y",
		"Bearer ${var.token}":                  "Bearer ${var.token}",
		"https://example.com/a@b?x=1":          "https://example.com/a@b?x=1",
		"ssh://git@example.com/x.git":          "ssh://git@example.com/x.git",
		"https://ana:hunter2@example.com/a/b":  "https://[secret]@example.com/a/b",
		"get https://t0ken@h/x, http://a:b@h":  "get https://[secret]@h/x, http://[secret]@h",
		"ssh://ana:hunter2@h/":                 "ssh://[secret]@h/",
		"https://h/x?a=1&access_token=abc&b=2": "https://h/x?a=1&access_token=[secret]&b=2",
		"Authorization: Bearer abcdefgh":       "Authorization: Bearer [secret]",
		"HF_TOKEN=hf_abc run":                  "HF_TOKEN=[secret] run",
		`{"api_key": "abc", "n": 1}`:           `{"api_key": "[secret]", "n": 1}`,
		"curl --token abc --password 'x' y":    "curl --token [secret] --password '[secret]' y",
		"password: ${var.x} --token $T":        "password: ${var.x} --token $T",
		"/home/ana/work/ops/src/a.c":           "[workspace]/src/a.c",
		"-I/home/ana/work/ops -L/home/ana/lib": "-I[workspace] -L[home]/lib",
		"-isystem/home/ana/x -L/opt/cc/lib":    "-isystem[home]/x -L[path]/lib",
		"a-b/c/d x/y-z/e -o/p":                 "a-b/c/d x/y-z/e -o/p",
		"It is in /home/ana. /home/ana.old/x":  "It is in [home]. [path]/x",
		"x=/home/ana2/y /home/anab":            "x=[path]/y [path]/anab",
		"file:///home/ana/x.zip":               "file://[home]/x.zip",
		"cc: /data/models/x/a.bin: no":         "cc: [path]/a.bin: no",
		"-I/scratch/x/inc a/b/c ../d ./e/f":    "-I[path]/inc a/b/c ../d ./e/f",
		"/usr/bin:/bin:/opt/cc/bin":            "/usr/bin:/bin:[path]/bin",
		"/data/local/tmp/x /dev/null /etc/a/b": "/data/local/tmp/x /dev/null /etc/a/b",
		"s/a/b/; 1/2 // c /x":                  "s/a/b/; 1/2 // c /x",
	} {
		got := h.Text(text)
		if bare := digests.ReplaceAllString(got, "]"); bare != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for name, hidden := range map[string]bool{"HF_TOKEN": true, "token": true, "--api-key": true,
		"AWS_SECRET_ACCESS_KEY": true, "DB_PASSWORD": true, "TOKENS": false, "TOKENIZED": false, "LANG": false,
		"KEY": false, "-p": false} {
		got := h.Value(name, "hunter2")
		if (got != "hunter2") != hidden || hidden && !strings.HasPrefix(got, "[secret ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if a, b := h.Value("TOKEN", "one"), h.Value("TOKEN", "two"); a == b {
		t.Errorf("two secrets look the same: %s", a)
	}
	if a, b := h.Text("/scratch/one/x"), h.Text("/scratch/two/x"); a == b {
		t.Errorf("two paths look the same: %s", a)
	}
	if got := (*explain.Hider)(nil).Value("TOKEN", "/home/ana"); got != "/home/ana" {
		t.Errorf("a document for oneself: %s", got)
	}
}

// FuzzHide: whatever a program printed, where it is printed stays hidden, and what is hidden stays so.
func FuzzHide(f *testing.F) {
	f.Add("x.c:1: TOKEN=abc https://a:b@c/d")
	f.Add("\xff/\x00 --password\t'")
	f.Fuzz(func(t *testing.T, s string) {
		h := explain.NewHider(map[string]string{"home": "/home/ana"}, "/usr")
		if got := h.Text("in /home/ana/" + s); !strings.HasPrefix(got, "in [") {
			t.Errorf("%q", got)
		}
		if got := h.Text(s + " https://ana:hunter2@example.com"); strings.Contains(got, "hunter2@") {
			t.Errorf("%q", got)
		}
		if got := h.Value("API_TOKEN", s); s != "" && !strings.HasPrefix(got, "[secret ") {
			t.Errorf("%q", got)
		}
	})
}
