package maven_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/sources/maven"
)

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"com.qualcomm.qti:qnn-runtime:2.41.0":         "https://maven.example/m2/com/qualcomm/qti/qnn-runtime/2.41.0/qnn-runtime-2.41.0.aar",
		"com.qualcomm.qti:qnn-runtime:2.41.0:src@jar": "https://maven.example/m2/com/qualcomm/qti/qnn-runtime/2.41.0/qnn-runtime-2.41.0-src.jar",
		"g:a:1.0-rc.1@tar.gz":                         "https://maven.example/m2/g/a/1.0-rc.1/a-1.0-rc.1.tar.gz",
	} {
		c, err := maven.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, repo := range []string{"https://maven.example/m2", "https://maven.example/m2/"} {
			if got := c.URL(repo); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
	if _, err := maven.Parse("com.qualcomm.qti:qnn-runtime:${short_version}"); err != nil {
		t.Errorf("a placeholder: %v", err)
	}
	for _, bad := range []string{"", "a:b", "a:b:c:d:e", "a:b:1.0-SNAPSHOT", "a:b:LATEST", "a:b:2.+", "a:../b:1", "a:b:..", "a:b:1@../x", "a:b:1/2", "a::1", "a:b:[1,2)"} {
		if _, err := maven.Parse(bad); err == nil {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("com.qualcomm.qti:qnn-runtime:2.41.0@aar")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := maven.Parse(text)
		if err != nil {
			return
		}
		if u := c.URL("https://m.example"); strings.Contains(u, "/../") || strings.Contains(u, "//../") || strings.ContainsAny(u, "\\ \n\x00") {
			t.Errorf("%q: address %q", text, u)
		}
	})
}
