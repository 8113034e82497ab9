package steps

import (
	"cmp"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/elffile"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// maxLibrary is the size limit of a library that is searched for a build id. Qualcomm's largest have some tens of
// megabytes.
const maxLibrary = 256 << 20

// facts adds facts about the pushed files. It identifies libraries of toolchains by toolchain and path, and opens files
// of the workspace.
func (r Run) facts(q *question) bool {
	var files []qnn.File
	var contexts []qnn.ContextBinary
	var largest, process int64
	for _, name := range slices.Sorted(maps.Keys(r.Push)) {
		from := r.Push[name]
		f := qnn.File{Name: name, From: from.String()}
		q.refuseSimulated("push", from.Host())
		if from.Host() == "" {
			q.fromOutput(from.String(), &f)
		} else if ok, c, size := q.inspect(from.Host(), &f); c != nil {
			contexts = append(contexts, c.Binary(f.Name))
			largest, process = max(largest, size), process+size
			continue
		} else if !ok {
			continue
		}
		files = append(files, f)
	}
	arch := ""
	if t := facts.TargetOf(q.p.Target); t != nil {
		arch = t.Arch
	}
	q.loads(largest, process)
	q.found = append(q.found, qnn.PushSet(files, arch)...)
	for _, c := range contexts {
		q.found = append(q.found, qnn.CheckContext(c, q.runtime(files))...)
	}
	if slices.ContainsFunc(files, func(f qnn.File) bool { return isQNN(f.Name) }) {
		q.text("vendor_first", vendorFirst(q.p.Env["LD_LIBRARY_PATH"]))
	}
	return true
}

// isQNN reports whether the name is that of a library of the QNN runtime.
func isQNN(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "libQnn") && strings.HasSuffix(base, ".so")
}

// fromOutput sets the facts that follow from an output's path.
func (q *question) fromOutput(value string, f *qnn.File) {
	for name, t := range q.p.Toolchains {
		if strings.HasPrefix(value, t.Output.Path()+"/") && isQNN(value) {
			if k, ok := q.known(name); ok {
				if f.BuildID = k.BuildID; f.BuildID == "" && k.Name == "qairt" {
					f.BuildID = "v" + k.Version
				}
			}
			f.From = "toolchain." + name + " (" + path.Base(path.Dir(value)) + ")"
		}
	}
	arch := regexp.MustCompile(`/(?:hexagon-|htp_)v(\d\d)/.*\.so$|/libQnnHtpV(\d\d)Skel\.so$`)
	if m := arch.FindStringSubmatch(value); m != nil {
		f.Arch = "v" + m[1] + m[2]
	}
}

// inspect reads a file of the workspace. It returns whether rules cover the file, and the header and size of a context
// binary.
func (q *question) inspect(at string, f *qnn.File) (bool, *qnnctx.Info, int64) {
	opened, size := q.file(at)
	if opened == nil {
		return false, nil, 0
	}
	defer opened.Close()
	file, ok := opened.(io.ReaderAt)
	if !ok {
		return false, nil, 0
	}
	if e, err := elffile.Open(file, size); err == nil {
		if e.Machine == qnn.MachineHexagon {
			f.Arch = qnn.HexagonArch(e.Flags)
		}
		if ids, err := buildid.Find(io.NewSectionReader(file, 0, min(size, maxLibrary))); err == nil && len(ids) == 1 {
			f.BuildID = ids[0]
		}
		return true, nil, 0
	}
	if c, err := qnnctx.Parse(file, size); err == nil {
		return false, &c, size
	}
	return false, nil, 0
}

// runtime returns the runtime that loads the contexts: the pushed backend, else the pipeline's QAIRT, and the target.
func (q *question) runtime(files []qnn.File) (r qnn.Runtime) {
	isBackend := func(f qnn.File) bool { return path.Base(f.Name) == "libQnnHtp.so" && f.BuildID != "" }
	i := slices.IndexFunc(files, isBackend)
	if i >= 0 {
		r.BuildID = files[i].BuildID
	}
	if k, ok := q.known("qairt"); ok && (i < 0 || buildid.Same(cmp.Or(k.BuildID, "v"+k.Version), r.BuildID)) {
		r = qnn.Runtime{Version: k.Version, BuildID: k.BuildID, CoreAPI: k.CoreAPI, HTPAPI: k.HTPAPI,
			Blob: k.ContextBlob}
	}
	if t := facts.TargetOf(q.p.Target); t != nil {
		r.Target = *t
	}
	return r
}

// vendorFirst returns the folder of the phone's own libraries if it precedes the run's folders in a search path.
func vendorFirst(searchPath string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(searchPath, ":"), ":")
	for _, own := range []string{"/vendor", "/odm", "/system", "/dsp"} {
		if strings.HasPrefix(first, own) {
			return first
		}
	}
	return ""
}
