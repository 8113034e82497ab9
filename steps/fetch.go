package steps

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Fetch holds the arguments of a fetch step. The step downloads one file, which it can unpack, or several files into a
// folder.
type Fetch struct {
	URL         string            `arg:"url,required"`
	Mirrors     []string          `arg:"mirrors"`
	SHA256      string            `arg:"sha256"`
	Files       map[string]string `arg:"files"`
	Size        int64             `arg:"size"`
	Unpack      bool              `arg:"unpack"`
	StripPrefix string            `arg:"strip_prefix"`
	Executable  bool              `arg:"executable"`
	UserAgent   string            `arg:"user_agent"`
	Headers     []sources.Header  `block:"header"`
}

func fetchSchema() step.Schema {
	return step.Schema{
		Summary: "Downloads one file, or several files into one folder. Each file has a digest. An interrupted " +
			"download resumes.",
		ArgDocs: map[string]string{
			"url":     "Address of the file: https, http or file. With `files`, address of the folder.",
			"mirrors": "More addresses of the same file or folder, tried in order.",
			"sha256":  "Digest of the file: 64 hexadecimal digits.",
			"files": "Digests of several files by their names below `url`, such as a model's files. Replaces " +
				"`sha256`. Model hubs show the digests; `sha256sum FILE` prints them.",
			"size":         "Size of the file in bytes, if known.",
			"unpack":       "Whether to unpack the file, an archive (zip, tar.*, deb), into outputs.dir.",
			"strip_prefix": "Folder of the archive whose content becomes outputs.dir.",
			"executable":   "Whether outputs.file is a program.",
			"user_agent":   "User agent of the request, for servers that reject programs.",
			"header": "Request header with a secret. A block `header \"Authorization\"` with `variable = " +
				"\"token\"` and `prefix = \"Bearer \"` reads it from HEXMAGE_VAR_token. hexmage sends it to the " +
				"url's host, or to hosts, and stores it in no key, file or log.",
		},
		Outputs: []step.OutputSpec{
			{Name: "file", Class: action.File, Optional: true, Doc: "The downloaded file; null with `files`."},
			step.Tree("dir", "The content of the archive. With `files`: the folder. Otherwise: a folder with the "+
				"file under its own name."),
		},
		Example: `step "fetch" "qwen" {
  url = "https://example.com/Qwen1.5-1.8B-Chat/resolve/main"
  files = {
    "config.json"       = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    "model.safetensors" = "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13"
  }
}`,
	}
}

// Plan plans the downloads and the unpacking.
func (f Fetch) Plan(p *step.Plan) {
	switch {
	case f.Files != nil && (f.SHA256 != "" || f.Unpack || f.StripPrefix != "" || f.Executable || f.Size > 0):
		p.Fail("files", "Arguments for one file", "files: sha256, unpack, strip_prefix, executable and size are for "+
			"one file. Remove them, or remove files.")
	case f.Files != nil:
		f.several(p)
	case f.SHA256 == "":
		p.Fail("sha256", "Missing digest", "sha256: missing. Set sha256 for one file, or files for several.")
	default:
		f.single(p)
	}
}

// single plans the download of one file.
func (f Fetch) single(p *step.Plan) {
	u, sum := address(p, "url", f.URL), digestOf(p, "sha256", f.SHA256)
	if p.Failed() {
		return
	}
	base := path.Base(u.Path)
	if base == "/" || base == "." {
		base = "file"
	}
	name := ""
	if f.Unpack {
		name = "download"
	}
	file := f.download(p, name, base, append([]string{f.URL}, f.Mirrors...), sum)
	p.File("file", file)
	if !f.Unpack {
		p.Tree("dir", file.As(base))
		return
	}
	out := fetch(p, "unpack", "unpack "+base, sources.Spec{Kind: sources.KindArchive, Name: base, File: "archive",
		SHA256: sum, Layout: unpack.Layout{StripPrefix: f.StripPrefix}, Out: treeDir})
	p.Tree("dir", out.In(file.As("archive")).OutTree(treeDir))
}

// several plans a download for each file, and the folder.
func (f Fetch) several(p *step.Plan) {
	folders := append([]string{f.URL}, f.Mirrors...)
	for i, at := range folders {
		argument := "url"
		if i > 0 {
			argument = "mirrors"
		}
		if u := address(p, argument, at); u != nil && (u.RawQuery != "" || u.Fragment != "") {
			p.Fail(argument, "Invalid folder address", "%q: has a query or a fragment. Use the address of a folder, "+
				"or sha256 for one file.", at)
		}
	}
	if len(f.Files) == 0 {
		p.Fail("files", "No files", "files: empty. Add a name and a digest.")
	}
	var dir []action.Input
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		sum := digestOf(p, "files", f.Files[name])
		if !filepath.IsLocal(name) || name != path.Clean(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
			p.Fail("files", "Invalid file name", "%q: not a path below the folder. Use a relative path.", name)
		}
		if p.Failed() {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) { // ends, because name is relative
			if _, ok := f.Files[dir]; ok {
				p.Fail("files", "File and folder with one name", "%q cannot be a file, because %q is below it. "+
					"Remove one of the two.", dir, name)
			}
		}
		var urls []string
		for _, at := range folders {
			urls = append(urls, strings.TrimSuffix(at, "/")+"/"+(&url.URL{Path: name}).EscapedPath())
		}
		dir = append(dir, f.download(p, name, path.Base(name), urls, sum).As(name))
	}
	p.Tree("dir", dir...)
}

// download adds a download action and returns its output.
func (f Fetch) download(p *step.Plan, name, base string, urls []string, sum string) action.Input {
	get := fetch(p, name, "fetch "+base, sources.Spec{Kind: sources.KindFile, Name: base, URLs: urls, Size: f.Size,
		SHA256: sum, UserAgent: f.UserAgent, Executable: f.Executable, Headers: f.Headers, Out: "file"})
	online(get, "fetch") // keeps downloads in the cache
	return get.Out("file")
}

// address parses the address of a file or folder, and fails the plan if it is invalid.
func address(p *step.Plan, argument, at string) *url.URL {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
		p.Fail(argument, "Invalid address", "%q: not an address. Begin it with https://, http:// or file://.", at)
	}
	return u
}

// digestOf returns a SHA-256 digest in lower case, and fails the plan if it is invalid.
func digestOf(p *step.Plan, argument, text string) string {
	sum := strings.ToLower(text)
	if len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
		p.Fail(argument, "Invalid digest", "%q: not a SHA-256 digest (64 hexadecimal digits). Print it with "+
			"`sha256sum FILE`.", text)
	}
	return sum
}

// fetch adds an action that downloads or unpacks. Its PATH has apt-get and the programs that apt-get starts.
func fetch(p *step.Plan, name, description string, spec sources.Spec) *step.Action {
	noLogin(p, spec.URLs...)
	if spec.Wheel != nil {
		noLogin(p, spec.Wheel.Index)
	}
	a := step.Tool(p, name, description, sources.Tool, spec)
	a.Env = map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	a.Timeout = fetchTimeout
	return a
}

// noLogin rejects addresses that contain a login: it would be in the action's key, in the cache and in exported runs.
// The diagnostic hides the source line.
func noLogin(p *step.Plan, addrs ...string) {
	for _, addr := range addrs {
		u, err := url.Parse(addr)
		if err != nil || u.User == nil {
			continue
		}
		// On an http server a user name alone may be a token.
		if _, password := u.User.Password(); password || strings.HasPrefix(u.Scheme, "http") {
			p.Fail("", "Login in an address", "The address at %s contains a login, which would be stored in the "+
				"cache. Move the login to ~/.netrc: machine %s login … password …", u.Host, u.Hostname())
			return
		}
	}
}

// online gives an action the network and access to this machine, for the given reason.
func online(a *step.Action, why string) {
	a.Set(action.PropertyNetwork, "true").Set(action.PropertyHost, why)
	a.Set(action.PropertyPool, action.DownloadsPool+"=1")
}

// Download returns the number of bytes that an action would download, and the server's name. Files in the downloads
// folder and files of unknown size count as 0 bytes.
func Download(s action.Spec, downloads string) (bytes int64, from string) {
	if s.Platform[action.PropertyTool] != string(sources.Tool) {
		return 0, ""
	}
	for _, in := range s.Inputs {
		var spec sources.Spec
		if in.Path == tool.ArgsFile && in.Content != nil && json.Unmarshal(in.Content.Data, &spec) == nil {
			return spec.Download(downloads), spec.Origin()
		}
	}
	return 0, ""
}
