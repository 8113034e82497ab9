package ssh

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for serial, want := range map[string]address{
		"ssh://ubuntu@10.0.0.9":            {"ubuntu", "10.0.0.9", "22"},
		"ssh://root@board.lan:2222":        {"root", "board.lan", "2222"},
		"ssh://u-1.x@[fe80::1]:22":         {"u-1.x", "fe80::1", "22"},
		"ssh://ana@snapdragon-x:65535":     {"ana", "snapdragon-x", "65535"},
		"ssh://firstname.lastname@example": {"firstname.lastname", "example", "22"},
		"ssh://Ana@Board.LAN":              {"Ana", "board.lan", "22"},
	} {
		if got, err := parse(serial); err != nil || got != want {
			t.Errorf("%s: %+v, %v", serial, got, err)
		}
	}
	for serial, want := range map[string]string{
		"10.0.0.9:22":                         "not of that form",
		"ssh://10.0.0.9":                      "as which user",
		"ssh://@10.0.0.9":                     "as which user",
		"ssh://u@":                            "no host",
		"ssh://u@-oProxyCommand=x":            "no host",
		"ssh://-l@host":                       "its user is none",
		"ssh://u@host/path":                   "follows the host",
		"ssh://u@host?x=1":                    "follows the host",
		"ssh://u@host:0":                      "its port",
		"ssh://u@host:99999":                  "its port",
		"ssh://u@host:x":                      "cannot be read",
		"ssh://u @host":                       "not of that form",
		"ssh://u@ho\nst":                      "not of that form",
		"ssh://u@*":                           "no host",
		"ssh://u@" + strings.Repeat("a", 600): "not of that form",
	} {
		if got, err := parse(serial); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "want ssh://USER@HOST") {
			t.Errorf("%s: %+v, %v; want %q", serial, got, err, want)
		}
	}
	for _, serial := range []string{"ssh://u:hunter2@host", "ssh://u:hunter2@host/", "ssh://u:hunter2@", "ssh://u:hun%zzter2@host", "ssh://u:hunter2 @host", "ssh://:hunter2@host", "ssh://u:x@hunter2@host"} {
		if _, err := parse(serial); err == nil || strings.Contains(err.Error(), "ter2") || strings.Contains(Shown(serial), "ter2") {
			t.Errorf("a password in an address: %v, %s", err, Shown(serial))
		}
	}
	if _, err := parse("ssh://u:hunter2@host"); err == nil || !strings.Contains(err.Error(), "use a key") {
		t.Errorf("a password in an address: %v", err)
	}
	if s := Shown("ssh://u@host:22"); s != "ssh://u@host:22" {
		t.Error(s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ssh://ubuntu@10.0.0.9:22")
	f.Add("ssh://u:p@[::1]")
	f.Add("ssh://%2d@h")
	f.Fuzz(func(t *testing.T, serial string) {
		a, err := parse(serial)
		if err != nil {
			return
		}
		if a.user == "" || a.host == "" || a.port == "" || strings.HasPrefix(a.user, "-") || strings.HasPrefix(a.host, "-") || strings.ContainsAny(a.user+a.host, " \n/@") {
			t.Errorf("%q: %+v", serial, a)
		}
	})
}
