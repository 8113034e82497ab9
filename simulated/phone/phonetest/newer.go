package phonetest

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/runner/adb"
)

// Newer relays to a real server, and says of itself what a newer one would: Debian's does not know version 2 of file transfers, but hands it
// through. features are separated by commas.
func Newer(t testing.TB, server *adb.Server, features string) *adb.Client {
	t.Helper()
	at := filepath.Join(filepath.Dir(server.Address()), "newer.sock")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go relay(in, server.Address(), features)
		}
	}()
	return adb.NewClient("unix", at)
}

func relay(in net.Conn, server, features string) {
	defer in.Close()
	var head [4]byte
	n := 0
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return
	}
	if _, err := fmt.Sscanf(string(head[:]), "%04x", &n); err != nil {
		return
	}
	request := make([]byte, n)
	if _, err := io.ReadFull(in, request); err != nil {
		return
	}
	if string(request) == "host:host-features" {
		fmt.Fprintf(in, "OKAY%04x%s", len(features), features)
		return
	}
	out, err := net.Dial("unix", server)
	if err != nil {
		return
	}
	defer out.Close()
	fmt.Fprintf(out, "%s%s", head[:], request)
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(in, out)
}
