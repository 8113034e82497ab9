package devices_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/steps/devices"
)

func TestParse(t *testing.T) {
	got, diags := devices.Parse([]byte(`
# the desk's own
device "desk" { serial = "R5CX123" }
device "rack" {
  serial = "10.0.0.7:5555"
  server = "10.0.0.2:5037"
  soc    = "SM8750"
}
device "twin" {
  serial = "R5CX123"
  server = "unix:/run/adb.sock"
}
device "board" {
  serial = "ssh://ubuntu@10.0.0.9:2222"
  soc    = "QCS9100"
}
simulated { phones = 2 }
`), "devices.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := devices.File{Simulated: 2, Devices: []pool.Device{
		{Name: "desk", Serial: "R5CX123"},
		{Name: "rack", Serial: "10.0.0.7:5555", Server: pool.Server{Network: "tcp", Address: "10.0.0.2:5037"}, SoC: "SM8750"},
		{Name: "twin", Serial: "R5CX123", Server: pool.Server{Network: "unix", Address: "/run/adb.sock"}},
		{Name: "board", Serial: "ssh://ubuntu@10.0.0.9:2222", SoC: "QCS9100"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, diags := devices.Parse(nil, "devices.hcl"); diags.HasErrors() || len(got.Devices) != 0 {
		t.Error(got, diags)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"device \"a\" {\n  serail = \"x\"\n}", `devices.hcl:2,3-9: Unsupported argument; An argument named "serail" is not ` +
			`expected here. Did you mean "serial"?`},
		{"devices \"a\" { }", `Did you mean "device"?`},
		{`server = "x"`, `An argument named "server" is not expected here`},
		{`device "a" { }`, `device "a" with serial "": write a name and a serial`},
		{`device { serial = "x" }`, `Missing name for device`},
		{`device "a b" { serial = "x" }`, `device "a b" with serial "x": write a name and a serial without spaces`},
		{`device "a" { serial = "" }`, `devices.hcl:1,1-11: Invalid device; device "a" with serial ""`},
		{`device "a" { serial = ["x"] }`, `string required`},
		{`device "a" { serial = null }`, `devices.hcl:1,23-27`},
		{`device "a" { serial = env.X }`, `devices.hcl:1,23-26`},
		{"device \"a\" {\n  serial = \"x\"\n  server = \"10.0.0.2\"\n}",
			`devices.hcl:3,12-22: Invalid server; server "10.0.0.2": use "HOST:PORT"`},
		{"device \"a\" {\n  serial = \"x\"\n  server = \"unix:adb.sock\"\n}", `use an absolute path for the socket`},
		{"device \"a\" { serial = \"x\" }\ndevice \"a\" { serial = \"y\" }",
			`devices.hcl:2,1-11: Duplicate device; device "a" is declared here and at devices.hcl:1`},
		{"device \"a\" { serial = \"x\" }\ndevice \"b\" { serial = \"x\" }",
			`The device with serial x is declared here and at devices.hcl:1`},
		{"device \"a\" { serial = \"b\" }\ndevice \"b\" { serial = \"x\" }", `the name of one device is the serial of the other device`},
		{"device \"a\" { serial = \"x\" }\ndevice \"b\" { serial = \"a\" }", `the name of one device is the serial of the other device`},
		{"device \"a\" {\n  serial = \"ssh://-x\"\n}",
			`devices.hcl:2,12-22: Invalid serial; invalid ssh address "ssh://-x"`},
		{"device \"a\" {\n  serial = \"ssh://u@h\"\n  server = \"10.0.0.2:5037\"\n}", `Server of a board`},
		{"device \"a\" {\n  serial = \"x\"\n  server = \"ssh://a b\"\n}", `write a name and a serial without spaces`},
		{"device \"a\" {\n  serial = \"x\"\n  soc = \"\\u0007\"\n}", `write a name and a serial without spaces`},
		{`simulated { phones = 0 }`, `phones: invalid value 0. Write a whole number from 1 to 256`},
		{`simulated { phones = 1.5 }`, `whole number`},
		{`simulated { phones = "many" }`, `number`},
		{`simulated { }`, `The argument "phones" is required`},
		{`simulated { phone = 2 }`, `Did you mean "phones"?`},
		{"simulated { phones = 1 }\nsimulated { phones = 2 }", `Only one simulated block is allowed`},
		{`device "a" {`, `devices.hcl:1`},
		{`device "a" { serial = ` + strings.Repeat("[", 100_000), `Nested too deeply`},
	} {
		_, diags := devices.Parse([]byte(c.src), "devices.hcl")
		var all []string
		for _, d := range diags {
			all = append(all, d.Error())
		}
		if !strings.Contains(strings.Join(all, "\n"), c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.src, all, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`device "a" { serial = "x" }`)
	f.Add(`simulated { phones = 2 }`)
	f.Add(`device "a" { serial = "ssh://u@h" }`)
	f.Add(`device "a" "b" { server = 1 }`)
	f.Add(`device "a" { serial = "x"
server = "ssh://u@h:1/run/adb.sock" }`)
	f.Fuzz(func(t *testing.T, src string) {
		got, diags := devices.Parse([]byte(src), "devices.hcl")
		if diags.HasErrors() {
			return
		}
		for _, d := range got.Devices {
			if d.Name == "" || d.Serial == "" {
				t.Errorf("%+v", d)
			}
			if again, err := devices.ParseServer(d.Server.String()); d.Server.Host != "" && (err != nil || again != d.Server) {
				t.Errorf("%+v is %+v, %v", d.Server, again, err)
			}
		}
	})
}
