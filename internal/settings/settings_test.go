package settings_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/settings"
)

const whole = `
remote "team" {
  cache             = "grpcs://cache.example"
  instance          = "main"
  namespace         = "a"
  upload            = "ci"
  upload_wait       = "2m"
  execute           = true
  fallback          = "fail"
  platform          = { OSFamily = "linux" }
  idle_timeout      = "5s"
  retries           = 0
  credential_helper = ["/usr/local/bin/login", "--team"]
  headers           = { "x-team" = "a", authorization = "Bearer ${env.TOKEN}" }
  tls {
    ca          = "/etc/ca.pem"
    certificate = "/home/me/me.pem"
    key         = "/home/me/me.key"
  }
}
remote "lab" { cache = "grpc://10.0.0.7:9092" }
`

func TestParse(t *testing.T) {
	all, diags := settings.Parse([]byte(whole), "/home/me/config.hcl", true)
	if diags.HasErrors() || len(all) != 2 {
		t.Fatal(all, diags)
	}
	team, lab := all[0], all[1]
	if team.Name != "team" || team.Address != "grpcs://cache.example" || team.Instance != "main" ||
		team.Namespace != "a" || team.Upload != settings.CI ||
		!team.Execute || team.Fallback != remote.FallbackFail || len(team.Platform) != 1 ||
		team.Platform["OSFamily"] != "linux" ||
		team.UploadWait != 2*time.Minute || team.IdleTimeout != 5*time.Second || team.Retries != 0 ||
		!slices.Equal(team.Credentials, []string{"/usr/local/bin/login", "--team"}) ||
		team.TLS != (remote.TLS{CA: "/etc/ca.pem", Certificate: "/home/me/me.pem", Key: "/home/me/me.key"}) {
		t.Errorf("%+v", team)
	}
	if lab.Execute || lab.Fallback != remote.FallbackLocal || lab.Platform != nil || lab.Upload != settings.Never ||
		lab.IdleTimeout != remote.DefaultIdleTimeout || lab.Retries != remote.DefaultRetries ||
		lab.UploadWait != remote.DefaultUploadWait {
		t.Errorf("%+v", lab)
	}
	env := map[string]string{"TOKEN": "secret", "BAD": "a\nb"}
	headers, diags := team.Headers(func(name string) string { return env[name] })
	if diags.HasErrors() || len(headers) != 2 || headers["authorization"] != "Bearer secret" ||
		headers["x-team"] != "a" {
		t.Errorf("%v, %v", headers, diags)
	}
	if h, diags := lab.Headers(nil); h != nil || diags.HasErrors() {
		t.Error(h, diags)
	}
	for headers, says := range map[string]string{
		`{ a = env.NONE }`:                      "Set the environment variable NONE",
		`{ a = var.x }`:                         "headers can refer only to environment variables",
		`{ a = env["TOKEN"] }`:                  "headers can refer only to environment variables",
		`{ a = env.BAD }`:                       "printable ASCII in the value",
		`{ "a b" = "x" }`:                       "Invalid header",
		`{ grpc-timeout = "x", b = env.TOKEN }`: "Invalid header",
		`"x"`:                                   "headers must be a map of string",
		`{ a = null }`:                          "headers must be a map of string",
	} {
		all, diags := settings.Parse([]byte(`remote "a" {
  cache   = "grpcs://h"
  headers = `+headers+`
}`), "config.hcl", true)
		if diags.HasErrors() {
			t.Errorf("%s: %v", headers, diags)
			continue
		}
		_, diags = all[0].Headers(func(name string) string { return env[name] })
		if !diags.HasErrors() || !strings.Contains(diags.Error(), says) ||
			!strings.Contains(diags.Error(), "config.hcl:3") || strings.Contains(diags.Error(), "secret") {
			t.Errorf("%s: %v, want %q", headers, diags, says)
		}
	}
}

func TestMaxSize(t *testing.T) {
	for src, want := range map[string]int64{"": 0, "cache {}": 0,
		"cache { max_size = \"50GB\" }\nremote \"a\" { cache = \"grpcs://h\" }": 50e9} {
		if n, diags := settings.MaxSize([]byte(src), "config.hcl", true); n != want || diags.HasErrors() {
			t.Errorf("%s: %d, %v", src, n, diags)
		}
	}
}

// TestMistakes: what is wrong is said with its place, and what a workspace may not say.
func TestMistakes(t *testing.T) {
	block := func(lines string) string { return "remote \"a\" {\n  cache = \"grpcs://h\"\n" + lines + "\n}" }
	for _, c := range []struct {
		src, says string
		only      string // the file in which it is wrong, of "own" and "workspace"; "": each
	}{
		{src: `remote {}`, says: "Invalid remote name"},
		{src: `remote "off" { cache = "grpcs://h" }`, says: `not the reserved name "off"`},
		{src: `remote "a" {}`, says: `Add cache = "grpcs://HOST:PORT"`},
		{src: `remote "a" { cache = "http://h" }`, says: "invalid server address"},
		{src: `remote "a" { cache = 1 == 1 ? null : "" }`, says: "cache must be a string"},
		{src: `remote "a" { cache = env.X }`, says: "Variables not allowed"},
		{src: `remotes "a" {}`, says: "Did you mean remote?"},
		{src: `cache { max_size = "large" }`, says: `invalid size "large"; use a value such as 20GB`, only: "own"},
		{src: `cache { max_size = 5 }` + "\n" + `cache {}`, says: "Declared twice", only: "own"},
		{src: `cache { size = "5GB" }`, says: "max_size", only: "own"},
		{src: `cache "big" { max_size = "5GB" }`, says: "A cache block has no label", only: "own"},
		{src: `cache { max_size = "5GB" }`, says: "All your workspaces share one cache", only: "workspace"},
		{src: block(`  uplaod = "ci"`), says: "Did you mean upload?"},
		{src: block(`  upload = "sometimes"`), says: "Use one of never, ci, always"},
		{src: block(`  execute = "perhaps"`), says: "execute must be a bool"},
		{src: block("  execute = true\n  fallback = \"never\""), says: "Use one of local, fail"},
		{src: block(`  fallback = "fail"`), says: "Add execute = true"},
		{src: block(`  platform = { OSFamily = "linux" }`), says: "Add execute = true"},
		{src: block("  execute = true\n  platform = { a = null }"), says: "platform must be a map of string"},
		{src: block(`  idle_timeout = "soon"`), says: "Use a duration such as"},
		{src: block(`  idle_timeout = "-1s"`), says: "Use a duration such as"},
		{src: block(`  retries = 1.5`), says: "Use a whole number"},
		{src: block(`  retries = -1`), says: "Use a whole number"},
		{src: block(`  instance = ""`), says: "one non-empty line"},
		{src: block(`  credential_helper = ["login"]`), says: "absolute path", only: "own"},
		{src: block(`  tls { certificate = "/a" }`), says: "Set both", only: "own"},
		{src: block(`  tls { ca = "a" }`), says: "absolute path", only: "own"},
		{src: block("}\nremote \"a\" {\n  cache = \"grpcs://i\""), says: "Declared twice"},
		{src: "remote \"a\" {\n  cache = \"grpc://h:1\"\n  headers = {}\n}", says: "only over TLS", only: "own"},
		{src: block(`  credential_helper = ["/login"]`), says: "must not start programs", only: "workspace"},
		{src: block(`  headers = {}`), says: "must not start programs", only: "workspace"},
		{src: block("  tls {\n    certificate = \"/a\"\n    key = \"/b\"\n  }"),
			says: "must not contain your private key", only: "workspace"},
		{src: block(`  tls { ca = "/etc/passwd" }`), says: "relative to the workspace", only: "workspace"},
	} {
		for _, own := range []bool{true, false} {
			_, diags := settings.Parse([]byte(c.src), "f.hcl", own)
			wrong := c.only == "" || own == (c.only == "own")
			if !wrong && c.only == "own" {
				continue // it is wrong there for another reason, or right
			}
			if diags.HasErrors() != wrong {
				t.Errorf("%s\nown %v: %v", c.src, own, diags)
			} else if wrong && (!strings.Contains(diags.Error(), c.says) ||
				!strings.Contains(diags.Error(), "f.hcl:")) {
				t.Errorf("%s\nown %v: %v, want %q", c.src, own, diags, c.says)
			}
		}
	}
	all, diags := settings.Parse([]byte(block(`  tls { ca = "certs/ca.pem" }`)), "/w/hexmage.hcl", false)
	if diags.HasErrors() || all[0].TLS.CA != "/w/certs/ca.pem" {
		t.Error(all, diags)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole), true)
	f.Add([]byte(`remote "a" { cache = "grpcs://h" }`), false)
	f.Fuzz(func(t *testing.T, src []byte, own bool) {
		all, diags := settings.Parse(src, "f.hcl", own)
		for _, r := range all {
			if diags.HasErrors() {
				return
			}
			if err := remote.CheckAddress(r.Address); err != nil || !own && (r.Credentials != nil || r.TLS.Key != "") {
				t.Errorf("%+v: %v", r, err)
			}
		}
	})
}
