// Package devices reads devices.hcl, the list of the phones and boards that pipelines may use.
//
// Parse is the entry point. The package does not know where the file is, and asks no device.
package devices

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/ssh"
)

// File is the content of a devices.hcl.
type File struct {
	Devices   []pool.Device // in the file's order; names and phones are distinct
	Simulated int           // how many simulated phones of an image a pipeline may run at the same time; 0: the default
}

// maxSimulated is far more phones than a machine can emulate.
const maxSimulated = 256

// Parse reads a file; name is for diagnostics. With errors the File is incomplete.
func Parse(src []byte, name string) (File, hcl.Diagnostics) {
	var f File
	parsed, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return f, diags
	}
	body := parsed.Body.(*hclsyntax.Body)
	diags = config.UnexpectedIn(body, nil, []string{"device", "simulated"}, name)
	first := map[string]hcl.Range{} // what may be there once, and where it is
	once := func(key, what string, at hcl.Range) {
		if other, ok := first[key]; ok {
			diags = append(diags, mistake(at, "Declared twice", "%s is declared here and at %s:%d. Rename or remove one of them.", what, other.Filename, other.Start.Line))
			return
		}
		first[key] = at
	}
	for _, b := range body.Blocks {
		switch b.Type {
		case "device":
			d, ds := device(b)
			diags = append(diags, ds...)
			if ds.HasErrors() {
				continue
			}
			once("name "+d.Name, fmt.Sprintf("device %q", d.Name), b.DefRange())
			once("phone "+d.Serial+"@"+d.Server.String(), "the device with serial "+d.Serial, b.DefRange())
			f.Devices = append(f.Devices, d)
		case "simulated":
			once("simulated", "simulated", b.DefRange())
			n, ds := simulated(b)
			diags = append(diags, ds...)
			f.Simulated = n
		}
	}
	for _, d := range f.Devices { // --serial takes either
		for _, other := range f.Devices {
			if d.Name == other.Serial && d.Name != other.Name {
				diags = append(diags, mistake(first["name "+d.Name], "A name that is a serial", "%q is the name of this device and the serial of %q. Choose another name.", d.Name, other.Name))
			}
		}
	}
	return f, diags
}

// device reads a block device.
func device(b *hclsyntax.Block) (d pool.Device, diags hcl.Diagnostics) {
	if len(b.Labels) != 1 {
		return d, hcl.Diagnostics{mistake(b.DefRange(), "A device has one name", "Write device \"desk\" { serial = \"…\" }: this one has %d names.", len(b.Labels))}
	}
	d.Name = b.Labels[0]
	what := fmt.Sprintf("device %q", d.Name)
	if d.Name == "" || strings.ContainsFunc(d.Name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		diags = append(diags, mistake(b.LabelRanges[0], "Unusable name", "%q: --serial takes the name of a device: write one without spaces.", d.Name))
	}
	diags = append(diags, config.UnexpectedIn(b.Body, []string{"serial", "server", "soc"}, nil, what)...)
	text := func(name string) (string, hcl.Range) {
		a := b.Body.Attributes[name]
		if a == nil {
			return "", b.DefRange()
		}
		v, ds := value(a, cty.String)
		diags = append(diags, ds...)
		if ds.HasErrors() {
			return "", a.SrcRange
		}
		s := v.AsString()
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			diags = append(diags, mistake(a.Expr.Range(), "Unusable "+name, "%q: write a %s without spaces.", s, name))
		}
		return s, a.Expr.Range()
	}
	d.Serial, _ = text("serial")
	if b.Body.Attributes["serial"] == nil && !diags.HasErrors() { // else it may be there by another name
		diags = append(diags, mistake(b.DefRange(), "A device without serial", "Add serial = \"…\" to %s: what `hexmage device list` shows first, HOST:PORT of a phone in the network, or ssh://USER@HOST of a board.", what))
	}
	d.SoC, _ = text("soc")
	if diags.HasErrors() {
		return d, diags
	}
	if s, at := text("server"); s != "" && !diags.HasErrors() {
		var err error
		if d.Server, err = ParseServer(s); err != nil {
			diags = append(diags, mistake(at, "Unusable server", "%v.", err))
		}
	}
	if diags.HasErrors() {
		return d, diags
	}
	if !ssh.Is(d.Serial) {
		return d, diags
	}
	if err := ssh.Check(d.Serial); err != nil {
		diags = append(diags, mistake(b.Body.Attributes["serial"].Expr.Range(), "Unusable serial", "%v.", err))
	}
	if a := b.Body.Attributes["server"]; a != nil {
		diags = append(diags, mistake(a.SrcRange, "A board has no adb server", "Leave server out: %s is reached over ssh.",
			ssh.Shown(d.Serial)))
	}
	return d, diags
}

// adbPort is where adb servers usually listen.
const adbPort = "5037"

// ParseServer reads the address of an adb server: "HOST:PORT", "unix:PATH", or "ssh://USER@HOST" for the server of
// another computer, with "/PORT" or "/PATH" if it does not listen at the usual port.
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
			return pool.Server{}, fmt.Errorf("server %q: the path of a socket is absolute: \"unix:/run/user/1000/adb.sock\"", s)
		}
		return pool.Server{Network: "unix", Address: path}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" {
		return pool.Server{}, fmt.Errorf("server %q: want \"HOST:PORT\", usually with port 5037, \"unix:PATH\", or \"ssh://USER@HOST\"", s)
	}
	return pool.Server{Network: "tcp", Address: s}, nil
}

// simulated reads a block simulated.
func simulated(b *hclsyntax.Block) (int, hcl.Diagnostics) {
	diags := config.UnexpectedIn(b.Body, []string{"phones"}, nil, "simulated")
	if len(b.Labels) > 0 {
		diags = append(diags, mistake(b.LabelRanges[0], "simulated has no name", "Write simulated { phones = 2 }."))
	}
	a := b.Body.Attributes["phones"]
	if a == nil {
		return 0, append(diags, mistake(b.DefRange(), "Missing number of phones", "Write simulated { phones = 2 }: the number of phones that may run at the same time."))
	}
	v, ds := value(a, cty.Number)
	if diags = append(diags, ds...); ds.HasErrors() {
		return 0, diags
	}
	n, _ := v.AsBigFloat().Int64()
	if !v.AsBigFloat().IsInt() || n < 1 || n > maxSimulated {
		return 0, append(diags, mistake(a.Expr.Range(), "Unusable number of phones", "phones is %s; it is a whole number from 1 to %d.", v.AsBigFloat().Text('g', 10), maxSimulated))
	}
	return int(n), diags
}

// value evaluates an attribute, which is a constant.
func value(a *hclsyntax.Attribute, want cty.Type) (cty.Value, hcl.Diagnostics) {
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		return v, diags
	}
	got, err := convert.Convert(v, want)
	if err != nil || got.IsNull() || !got.IsWhollyKnown() {
		return got, hcl.Diagnostics{mistake(a.Expr.Range(), "Wrong type", "%s is a %s.", a.Name, want.FriendlyName())}
	}
	return got, nil
}

func mistake(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at}
}
