package steps

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/elffile"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// maxLibrary is the largest library that is searched for a build id; the largest of the vendor's are some tens of megabytes.
const maxLibrary = 256 << 20

// run looks at what is pushed: libraries of toolchains are known by their toolchain and path, files of the workspace are opened.
func (l *inquiry) run() {
	push := l.r.Map("push")
	var files []qnn.File
	for _, name := range slices.Sorted(maps.Keys(push)) {
		value := push[name]
		f := qnn.File{Name: name, From: value}
		if at := l.host("push", value); at != "" {
			if !l.open(at, &f) {
				continue
			}
		} else {
			l.made(value, &f)
		}
		files = append(files, f)
	}
	arch := ""
	if t := facts.TargetOf(l.r.Target); t != nil {
		arch = t.Arch
	}
	l.found = append(l.found, qnn.PushSet(files, arch)...)
	if slices.ContainsFunc(files, func(f qnn.File) bool { return isQNN(f.Name) }) {
		l.facts["vendor_first"] = cty.StringVal(vendorFirst(l.r.Env["LD_LIBRARY_PATH"]))
	}
}

// isQNN tells whether the name is that of a library of the QNN runtime.
func isQNN(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "libQnn") && strings.HasSuffix(base, ".so")
}

// made fills in what the path of an output says.
func (l *inquiry) made(value string, f *qnn.File) {
	for _, t := range l.r.Toolchains {
		if p := t.Output.Path(); strings.HasPrefix(value, p+"/") && isQNN(value) {
			if k, ok := l.known(t.Output.Step.Name); ok {
				if f.BuildID = k.BuildID; f.BuildID == "" && k.Name == "qairt" {
					f.BuildID = "v" + k.Version
				}
			}
			f.From = "toolchain." + t.Output.Step.Name + " (" + path.Base(path.Dir(value)) + ")"
		}
	}
	if m := regexp.MustCompile(`/(?:hexagon-|htp_)(v\d\d)/`).FindStringSubmatch(value); m != nil && strings.HasSuffix(value, ".so") {
		f.Arch = m[1]
	}
}

// open looks into a file of the workspace; false when it is nothing that rules are about. A context binary is compared with the
// runtime at once.
func (l *inquiry) open(at string, f *qnn.File) bool {
	file, err := os.Open(at)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if e, err := elffile.Open(file, info.Size()); err == nil {
		if e.Machine == qnn.MachineHexagon {
			f.Arch = qnn.HexagonArch(e.Flags)
		}
		if ids, err := buildid.Find(io.NewSectionReader(file, 0, min(info.Size(), maxLibrary))); err == nil && len(ids) == 1 {
			f.BuildID = ids[0]
		}
		return true
	}
	if c, err := qnnctx.Parse(file, info.Size()); err == nil {
		l.contextBinary(f.Name, c)
	}
	return false
}

func (l *inquiry) contextBinary(name string, c qnnctx.Info) {
	var r qnn.Runtime
	if k, ok := l.known("qairt"); ok {
		r = qnn.Runtime{Version: k.Version, BuildID: k.BuildID, CoreAPI: k.CoreAPI, HTPAPI: k.HTPAPI, Blob: k.ContextBlob}
	}
	if t := facts.TargetOf(l.r.Target); t != nil {
		r.SoC, r.Arch, r.SoCModel, r.VTCMMB = t.SoC, t.Arch, t.SoCModel, t.VTCMMB
	}
	l.found = append(l.found, qnn.CheckContext(Describe(name, c), r)...)
}

// Describe says in the terms of the rules what the header of a context binary says.
func Describe(name string, c qnnctx.Info) qnn.ContextBinary {
	version := func(v qnnctx.Version) string {
		if v == (qnnctx.Version{}) {
			return ""
		}
		return v.String()
	}
	b := qnn.ContextBinary{Name: name, BuildID: c.BuildID, CoreAPI: version(c.CoreAPI), HTPAPI: version(c.BackendAPI), Blob: version(c.BlobVersion),
		SoC: c.SoC, SoCModel: int(c.SoCModel), VTCMMB: int(c.VTCM >> 20)}
	if c.Arch > 0 {
		b.Arch = fmt.Sprintf("v%d", c.Arch)
	}
	return b
}

// vendorFirst returns the folder of the phone's own libraries that a search path has before any that is the run's.
func vendorFirst(searchPath string) string {
	for _, dir := range strings.Split(searchPath, ":") {
		switch {
		case strings.HasPrefix(dir, "/vendor"), strings.HasPrefix(dir, "/odm"), strings.HasPrefix(dir, "/system"), strings.HasPrefix(dir, "/dsp"):
			return dir
		case dir != "":
			return ""
		}
	}
	return ""
}
