package cli

import (
	"testing"
)

// TestADBAddress: the variables that adb itself reads lead to the same server.
func TestADBAddress(t *testing.T) {
	for want, vars := range map[string][]string{
		"tcp 127.0.0.1:5037": nil,
		"tcp 127.0.0.1:6000": {"ANDROID_ADB_SERVER_PORT=6000"},
		"tcp lab:5037":       {"ANDROID_ADB_SERVER_ADDRESS=lab"},
		"tcp lab:6000":       {"ANDROID_ADB_SERVER_ADDRESS=lab", "ANDROID_ADB_SERVER_PORT=6000"},
		"tcp 127.0.0.1:7000": {"ADB_SERVER_SOCKET=tcp:7000", "ANDROID_ADB_SERVER_PORT=6000"},
		"tcp other:7001":     {"ADB_SERVER_SOCKET=tcp:other:7001"},
		"unix /run/adb":      {"ADB_SERVER_SOCKET=localfilesystem:/run/adb"},
		"an error":           {"ADB_SERVER_SOCKET=vsock:1"},
	} {
		network, address, err := (&app{Env: Env{Vars: vars}}).adbAddress()
		if got := network + " " + address; err == nil && got != want || err != nil && want != "an error" {
			t.Errorf("%q: %s, %v", vars, got, err)
		}
	}
}
