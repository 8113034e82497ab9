package adb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/transport"
)

// liar starts a server that accepts connections, reads a request, answers with reply and closes the connection.
func liar(t testing.TB, reply []byte) *adb.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.Write(reply)
				c.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, c)
			}()
		}
	}()
	return adb.NewClient("tcp", l.Addr().String())
}

func TestHostileServer(t *testing.T) {
	t.Parallel()
	const opened = "OKAYOKAY" // transport and service
	version := func(c *adb.Client) error { _, err := c.Version(t.Context()); return err }
	shell := func(c *adb.Client) error {
		_, err := c.Device("x").Shell(t.Context(), "true", transport.Streams{})
		return err
	}
	forward := func(c *adb.Client) error { _, err := c.Device("x").Forward(t.Context(), "tcp:0", "tcp:1"); return err }
	devices := func(c *adb.Client) error { _, err := c.Devices(t.Context()); return err }
	for _, c := range []struct {
		name, reply string
		do          func(*adb.Client) error
		want        error
	}{
		{"nothing", "", version, transport.ErrDropped},
		{"half a status", "OK", version, transport.ErrDropped},
		{"another protocol", "HTTP/1.1 400 Bad Request\r\n", version, adb.ErrProtocol},
		{"length that is no number", "OKAYzzzz", version, adb.ErrProtocol},
		{"length with a sign", "OKAY-001x", version, adb.ErrProtocol},
		{"short text", "OKAYffffabc", version, transport.ErrDropped},
		{"short reason", "FAIL0010abc", version, transport.ErrDropped},
		{"huge shell packet", opened + "\x01\xff\xff\xff\xff", shell, adb.ErrProtocol},
		{"long exit code", opened + "\x03\x04\x00\x00\x00abcd", shell, adb.ErrProtocol},
		{"no exit code", opened + "\x01\x01\x00\x00\x00x", shell, transport.ErrDropped},
		{"only one status", "OKAY", forward, transport.ErrDropped},
		{"a port that is none", "OKAYOKAY0005x1234", forward, adb.ErrProtocol},
		{"a huge port", "OKAYOKAY000599999", forward, adb.ErrProtocol},
		{"half a list of devices", "OKAY0010x dev", devices, transport.ErrDropped},
		{"a list with no length", "OKAYzzzz", devices, adb.ErrProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.do(liar(t, []byte(c.reply)))
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := adb.NewClient("tcp", l.Addr().String()).Version(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestDevicesList(t *testing.T) {
	t.Parallel()
	list := "emulator-5554          device product:sdk model:Pixel_7 device:x transport_id:1\n" +
		"R5CT            unauthorized usb:1-2 transport_id:2\n" +
		"0123            no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html] usb:1-1\n\nrubbish\n" +
		"adb-0a1b-Xy12Zw (2)._adb-tls-connect._tcp device product:a transport_id:4\n" +
		"0a1b2c3d               recovery usb:1-1 transport_id:5\n"
	all, err := liar(t, []byte("OKAY"+hex4(len(list))+list)).Devices(t.Context())
	if err != nil || len(all) != 5 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []string{"", "allow USB debugging", "udev", "", "adb reboot"} {
		if got := all[i].Remedy(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: the remedy is %q, want %q in it", all[i].State, got, want)
		}
	}
	if !all[3].Usable() || all[3].Serial != "adb-0a1b-Xy12Zw (2)._adb-tls-connect._tcp" {
		t.Errorf("%+v", all[3])
	}
	if !all[0].Usable() || all[0].Props["model"] != "Pixel_7" {
		t.Errorf("%+v", all[0])
	}
	if all[1].Usable() || all[1].State != "unauthorized" || all[1].Props["usb"] != "1-2" {
		t.Errorf("%+v", all[1])
	}
	if all[2].Usable() || !strings.HasPrefix(all[2].State, "no permissions") || all[2].Props["usb"] != "1-1" {
		t.Errorf("%+v", all[2])
	}
}

func hex4(n int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[n>>12&15], digits[n>>8&15], digits[n>>4&15], digits[n&15]})
}

// FuzzReplies feeds every operation with arbitrary bytes. The operation must end without a panic.
func FuzzReplies(f *testing.F) {
	f.Add([]byte("OKAY0029"), uint8(0))
	f.Add([]byte("FAIL0003abc"), uint8(0))
	f.Add([]byte("OKAY0019emulator-5554  device x:y"), uint8(1))
	f.Add([]byte("OKAYOKAY\x01\x02\x00\x00\x00hi\x03\x01\x00\x00\x00\x07"), uint8(2))
	f.Add([]byte("OKAYOKAY\x02\x02\x00\x00\x00hi\x05\x08\x00\x00\x0012345678\x03\x01\x00\x00\x00\x07"), uint8(2))
	f.Add([]byte("OKAY001cemulator-5554\tdevice x:y z:z"), uint8(3))
	f.Add([]byte("OKAYOKAY00045000"), uint8(4))
	f.Fuzz(func(t *testing.T, reply []byte, op uint8) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := operate(ctx, liar(t, reply), op%5); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("did not end: %v", err)
		}
	})
}

// operate does one operation with a server.
func operate(ctx context.Context, c *adb.Client, op uint8) (err error) {
	switch op {
	case 0:
		_, err = c.Version(ctx)
		return err
	case 1:
		_, err = c.Devices(ctx)
		return err
	case 2:
		_, err = c.Device("x").Shell(ctx, "true", transport.Streams{Stdin: strings.NewReader("in")})
		return err
	case 3:
		return c.Device("x").Reconnect(ctx)
	default:
		_, err = c.Device("x").Forward(ctx, "tcp:0", "tcp:1")
		return err
	}
}

// TestSilentDevice: a phone that accepts a command and never answers does not count as reconnected, and does not
// block the caller forever.
func TestSilentDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := adb.NewClientOver("x", func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				go theirs.Write([]byte("OKAYOKAY"))
				io.Copy(io.Discard, theirs)
			}()
			return ours, nil
		})
		if err := c.Device("x").Reconnect(t.Context()); !transport.Retryable(err) {
			t.Error(err)
		}
	})
}
