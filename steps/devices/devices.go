// Package devices reads devices.hcl, the list of phones and boards that pipelines may use. Parse is the entry point.
//
// The package does not know the file's path, and connects to no device.
package devices

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
)

// File is the content of a devices.hcl file.
type File struct {
	Devices   []pool.Device // in the file's order, with distinct names and phones
	Simulated int           // maximum number of simulated phones that run at the same time; 0: the default
}

// maxSimulated is far above the number of phones that a machine can emulate.
const maxSimulated = 256

// content is the HCL schema of a file.
type content struct {
	Devices []struct {
		Name     string    `hcl:"name,label"`
		Serial   string    `hcl:"serial,optional"`
		Server   string    `hcl:"server,optional"`
		SoC      string    `hcl:"soc,optional"`
		At       hcl.Range `hcl:",def_range"`
		SerialAt hcl.Range `hcl:"serial,attr_value_range"`
		ServerAt hcl.Range `hcl:"server,attr_value_range"`
	} `hcl:"device,block"`
	Simulated *struct {
		Phones int       `hcl:"phones"`
		At     hcl.Range `hcl:"phones,attr_value_range"`
	} `hcl:"simulated,block"`
}

// Parse parses a devices.hcl file. Diagnostics refer to the file by name. After an error, the File is incomplete.
func Parse(src []byte, name string) (File, hcl.Diagnostics) {
	var f File
	parsed, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return f, diags
	}
	var c content
	if diags = gohcl.DecodeBody(parsed.Body, nil, &c); diags.HasErrors() {
		return f, diags
	}
	fail := func(at hcl.Range, summary, detail string, args ...any) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary,
			Detail: fmt.Sprintf(detail, args...), Subject: &at})
	}
	for _, b := range c.Devices {
		d := pool.Device{Name: b.Name, Serial: b.Serial, SoC: b.SoC}
		unusable := func(r rune) bool { return r <= ' ' || r == 0x7f }
		if b.Name == "" || b.Serial == "" || strings.ContainsFunc(b.Name+b.Serial+b.Server+b.SoC, unusable) {
			fail(b.At, "Invalid device", "device %q with serial %q: write a name and a serial without spaces.",
				b.Name, b.Serial)
		}
		if b.Server != "" {
			var err error
			if d.Server, err = ParseServer(b.Server); err != nil {
				fail(b.ServerAt, "Invalid server", "%v.", err)
			}
		}
		if ssh.Is(d.Serial) {
			if err := ssh.Check(d.Serial); err != nil {
				fail(b.SerialAt, "Invalid serial", "%v.", err)
			} else if b.Server != "" {
				fail(b.ServerAt, "Server of a board", "server: %s is a board, which needs no adb server. Remove "+
					"server.",
					ssh.Shown(d.Serial))
			}
		}
		for i, other := range f.Devices {
			at := c.Devices[i].At
			switch {
			case d.Name == other.Name:
				fail(b.At, "Duplicate device", "device %q is declared here and at %s:%d. Rename or remove one of them.",
					d.Name, name, at.Start.Line)
			case d.Serial == other.Serial && d.Server == other.Server:
				fail(b.At, "Duplicate device", "The device with serial %s is declared here and at %s:%d. Remove one "+
					"of "+
					"them.",
					d.Serial, name, at.Start.Line)
			case d.Name == other.Serial || d.Serial == other.Name: // --serial accepts either
				fail(b.At, "Name equal to a serial", "devices %q and %q: the name of one device is the serial of the "+
					"other device. Choose another name.", d.Name, other.Name)
			}
		}
		f.Devices = append(f.Devices, d)
	}
	if s := c.Simulated; s != nil {
		if f.Simulated = s.Phones; f.Simulated < 1 || f.Simulated > maxSimulated {
			fail(s.At, "Invalid number of phones", "phones: invalid value %d. Write a whole number from 1 to %d.",
				s.Phones, maxSimulated)
		}
	}
	return f, diags
}

// adbPort is the default port of adb servers.
const adbPort = "5037"

// ParseServer parses the address of an adb server: "HOST:PORT", "unix:PATH", or "ssh://USER@HOST" for a server on
// another computer. For another port or socket, append "/PORT" or "/PATH" to the ssh address.
func ParseServer(s string) (pool.Server, error) {
	if rest, ok := strings.CutPrefix(s, ssh.Scheme); ok {
		host, at, _ := strings.Cut(rest, "/")
		server := pool.Server{Host: ssh.Scheme + host, Network: "unix", Address: "/" + at}
		if at == "" {
			at = adbPort
		}
		if n, err := strconv.ParseUint(at, 10, 16); err == nil && n != 0 {
			server.Network, server.Address = "tcp", "127.0.0.1:"+at
		}
		return server, ssh.Check(server.Host)
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if !filepath.IsAbs(path) {
			return pool.Server{}, fmt.Errorf("server %q: use an absolute path for the socket, such as "+
				"\"unix:/run/user/1000/adb.sock\"", s)
		}
		return pool.Server{Network: "unix", Address: path}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" {
		return pool.Server{}, fmt.Errorf("server %q: use \"HOST:PORT\" (usually port 5037), \"unix:PATH\" or "+
			"\"ssh://USER@HOST\"", s)
	}
	return pool.Server{Network: "tcp", Address: s}, nil
}
