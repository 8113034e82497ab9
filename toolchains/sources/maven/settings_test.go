package maven_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/pin"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
)

func home(t *testing.T, settings string) string {
	t.Helper()
	dir := t.TempDir()
	if settings == "" {
		return dir
	}
	if err := os.MkdirAll(filepath.Join(dir, ".m2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".m2", "settings.xml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSettings: the repositories and logins of settings.xml, as Maven takes them.
func TestSettings(t *testing.T) {
	env := map[string]string{"TOKEN": "t0ken"}
	getenv := func(name string) string { return env[name] }
	for name, x := range map[string]struct {
		settings string
		want     []string // URL user:password
		fails    string
	}{
		"none": {"", []string{"https://repo.maven.apache.org/maven2 :"}, ""},
		"a mirror of all": {`<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>https://corp.example/maven</url></mirror></mirrors>
			<servers><server><id>corp</id><username>ana</username><password>${env.TOKEN}</password></server></servers></settings>`, []string{"https://corp.example/maven ana:t0ken"}, ""},
		"profiles": {`<settings><profiles><profile><id>on</id><repositories><repository><id>ours</id><url>https://ours.example/m2</url></repository></repositories></profile>
			<profile><id>off</id><repositories><repository><id>other</id><url>https://other.example/m2</url></repository></repositories></profile></profiles>
			<activeProfiles><activeProfile>on</activeProfile></activeProfiles><servers><server><id>ours</id><username>u</username><password>p</password></server></servers></settings>`,
			[]string{"https://ours.example/m2 u:p", "https://repo.maven.apache.org/maven2 :"}, ""},
		"all but one": {`<settings><mirrors><mirror><id>m</id><mirrorOf>*,!ours</mirrorOf><url>https://m.example</url></mirror></mirrors><profiles><profile><id>d</id><activation><activeByDefault>true</activeByDefault></activation>
			<repositories><repository><id>ours</id><url>https://ours.example/m2</url></repository></repositories></profile></profiles></settings>`, []string{"https://ours.example/m2 :", "https://m.example :"}, ""},
		"one before all": {`<settings><mirrors><mirror><id>a</id><mirrorOf>*</mirrorOf><url>https://a.example</url></mirror><mirror><id>b</id><mirrorOf>central</mirrorOf><url>https://b.example</url></mirror></mirrors></settings>`,
			[]string{"https://b.example :"}, ""},
		"a login in the address": {`<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>https://ana:s3cret@m.example/m2</url></mirror></mirrors></settings>`, []string{"https://m.example/m2 ana:s3cret"}, ""},
		"encrypted":              {`<settings><servers><server><id>central</id><username>u</username><password>{COQLCE6DU6GtcS5P=}</password></server></servers></settings>`, nil, "~/.netrc"},
		"damaged":                {`<settings><servers><server><password>s3cret</server>`, nil, "settings.xml"},
		"address":                {`<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>ftp://s3cret</url></mirror></mirrors></settings>`, nil, "https://host/maven2"},
	} {
		rs, err := maven.Repositories(getenv, home(t, x.settings))
		if x.fails != "" {
			if err == nil || !strings.Contains(err.Error(), x.fails) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "COQLCE") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var got []string
		for _, r := range rs {
			got = append(got, r.URL+" "+r.User+":"+r.Password)
		}
		if diff := cmp.Diff(x.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if got := maven.Variables(home(t, `<a>${env.TOKEN}</a>`)); !cmp.Equal(got, []string{"TOKEN"}) {
		t.Errorf("variables %q", got)
	}
}

// TestOwnRepositories: a source without repositories is got from those of settings.xml, with their logins; neither the lock nor the spec names them.
func TestOwnRepositories(t *testing.T) {
	body := aar(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user+password != "anas3cret":
			http.Error(w, "who are you", http.StatusUnauthorized)
		case r.URL.Path == "/m2/g/a/1/a-1.aar":
			_, _ = w.Write(body)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	c, diags := toolchains.Load(map[string][]byte{"ours.hcl": []byte("toolchain \"a\" {\n  default = \"1\"\n  release \"1\" {\n    source \"maven\" {\n      coordinates = \"g:a:1\"\n    }\n  }\n}\n")})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	l := &toolchains.Lock{}
	o := sources.Options{Downloads: t.TempDir(), Home: home(t, `<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>`+srv.URL+`/m2</url></mirror></mirrors>
		<servers><server><id>m</id><username>ana</username><password>s3cret</password></server></servers></settings>`)}
	if _, err := pin.Update(t.Context(), c, l, []toolchains.Request{{Name: "a", Profile: "device"}}, pin.Options{Options: o}); err != nil {
		t.Fatal(err)
	}
	if text := string(l.Encode()); strings.Contains(text, "127.0.0.1") || strings.Contains(text, "s3cret") || l.Entries[0].Size != int64(len(body)) {
		t.Errorf("the lock:\n%s", text)
	}
	ch, err := c.Choose(toolchains.Request{Name: "a", Profile: "device", Lock: l})
	if err != nil || len(ch.Spec.URLs) != 0 {
		t.Fatalf("%+v, %v", ch.Spec, err)
	}
	o.Downloads = t.TempDir()
	if err := sources.Fetch(t.Context(), ch.Spec, filepath.Join(t.TempDir(), "tree"), o); err != nil {
		t.Error(err)
	}
	o.Home, o.Downloads = home(t, `<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>`+srv.URL+`/m2</url></mirror></mirrors></settings>`), t.TempDir()
	if err := sources.Fetch(t.Context(), ch.Spec, filepath.Join(t.TempDir(), "tree"), o); err == nil || strings.Contains(err.Error(), "127.0.0.1") || !strings.Contains(err.Error(), "settings.xml") {
		t.Errorf("without a login: %v", err)
	}
	o.Home = home(t, `<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>http://ana:s3cret@m.example/m2</url></mirror></mirrors></settings>`)
	if err := sources.Fetch(t.Context(), ch.Spec, filepath.Join(t.TempDir(), "tree"), o); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "https") {
		t.Errorf("a login for everybody to read: %v", err)
	}
}
