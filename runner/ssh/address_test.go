package ssh

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, serial := range []string{"ssh://ubuntu@10.0.0.9", "ssh://root@board.lan:2222", "ssh://u-1.x@[fe80::1]:22",
		"ssh://ana@snapdragon-x:65535", "ssh://board", "ssh://board:22", "ssh://Ana@Board.LAN"} {
		if err := Check(serial); err != nil || Shown(serial) != serial {
			t.Errorf("%s: %v, shown as %s", serial, err, Shown(serial))
		}
	}
	for _, serial := range []string{"10.0.0.9:22", "ssh://", "ssh://@10.0.0.9", "ssh://u@", "ssh://u@-oProxyCommand=x",
		"ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://u@host/path", "ssh://u@host?x=1", "ssh://u@host:0", "ssh://u@host:99999",
		"ssh://u@host:x", "ssh://u @host", "ssh://u@ho\nst", "ssh://u@*", "ssh://u@$(x)", "ssh://u@%h",
		"ssh://u@" + strings.Repeat("a", 600)} {
		if err := Check(serial); err == nil || !strings.Contains(err.Error(), "invalid ssh address") || !strings.Contains(err.Error(), "; write ssh://HOST") {
			t.Errorf("%q: %v", serial, err)
		}
	}
	for _, serial := range []string{"ssh://u:hunter2@host", "ssh://u:hunter2@", "ssh://u:hun%zzter2@host",
		"ssh://u:hunter2 @host", "ssh://:hunter2@host", "ssh://u:x@hunter2@host"} {
		if err := Check(serial); err == nil || strings.Contains(err.Error(), "ter2") ||
			strings.Contains(Shown(serial), "ter2") || !strings.Contains(err.Error(), "use an SSH key") {
			t.Errorf("a password in an address: %v, %s", err, Shown(serial))
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("ssh://ubuntu@10.0.0.9:22")
	f.Add("ssh://u:p@[::1]")
	f.Add("ssh://%2d@h")
	f.Fuzz(func(t *testing.T, serial string) {
		if Check(serial) != nil {
			return
		}
		rest := strings.TrimPrefix(serial, Scheme)
		if strings.HasPrefix(rest, "-") || strings.Contains(rest, "@-") || strings.ContainsAny(rest, " \n/'\"`$\\") {
			t.Errorf("%q", serial)
		}
	})
}
