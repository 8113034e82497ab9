package steps

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Fetch are the arguments of kind fetch: it downloads a file, and unpacks it if asked, or several files into a folder.
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
		Summary: "Downloads a file, or several files into one folder. Each has a digest. An interrupted download resumes where it stopped.",
		ArgDocs: map[string]string{
			"url":          "Address of the file: https, http or file. With `files`, address of the folder.",
			"mirrors":      "More addresses of the same file or folder, tried in order.",
			"sha256":       "Digest of the file: 64 hexadecimal digits.",
			"files":        "In place of `sha256`: digests of several files by their names below `url`, such as those of a model. A hub shows them; `sha256sum FILE` prints them.",
			"size":         "Size of the file in bytes, if known.",
			"unpack":       "Whether the file is an archive (zip, tar.*, deb) to be unpacked into outputs.dir.",
			"strip_prefix": "Folder of the archive whose content becomes outputs.dir.",
			"executable":   "Whether outputs.file is a program.",
			"user_agent":   "User agent of the request, for servers that refuse programs.",
			"header":       "A line of the request with a secret: a block `header \"Authorization\"` with `variable = \"token\"` and `prefix = \"Bearer \"` takes it from HEXMAGE_VAR_token. It goes to the url's host, or to hosts, and into no key, file or log.",
		},
		Outputs: []step.OutputSpec{
			{Name: "file", Class: action.File, Optional: true, Doc: "The file as it was downloaded; null with `files`."},
			step.Tree("dir", "The content of the archive; with `files` the folder; else a folder with the file under its own name."),
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

// Plan plans the downloads, and the unpacking.
func (f Fetch) Plan(p *step.Plan) {
	switch {
	case f.Files != nil && f.SHA256 != "":
		p.Fail("files", "Two kinds of digests", "files has digests by name, sha256 that of one file. Remove one of them.")
	case f.Files != nil && (f.Unpack || f.StripPrefix != "" || f.Executable || f.Size > 0):
		p.Fail("files", "One file only", "unpack, strip_prefix, executable and size are for one file. Remove them, or use sha256.")
	case f.Files != nil:
		f.several(p)
	case f.SHA256 == "":
		p.Fail("sha256", "Missing digest", "Set sha256 for one file, or files for several.")
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
	if base == "/" || base == "." || base == "" {
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
	out := fetch(p, "unpack", "unpack "+base, sources.Spec{Kind: sources.KindArchive, Name: base, File: "archive", SHA256: sum,
		Layout: unpack.Layout{StripPrefix: f.StripPrefix}, Out: treeDir})
	out.In(file.As("archive"))
	p.Tree("dir", out.OutTree(treeDir))
}

// several plans a download for each file of a folder.
func (f Fetch) several(p *step.Plan) {
	folders := append([]string{f.URL}, f.Mirrors...)
	for i, at := range folders {
		argument := "url"
		if i > 0 {
			argument = "mirrors"
		}
		if u := address(p, argument, at); u != nil && (u.RawQuery != "" || u.Fragment != "") {
			p.Fail(argument, "Not a folder's address", "%q has a query or a fragment. Use the address of a folder, or sha256 for one file.", at)
		}
	}
	if len(f.Files) == 0 {
		p.Fail("files", "No files", "files is empty. Add a name and a digest.")
	}
	var dir []action.Input
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		sum := digestOf(p, "files", f.Files[name])
		if name != path.Clean(name) || path.IsAbs(name) || strings.HasPrefix(name, "..") || name == "." || strings.ContainsAny(name, "\\\x00") {
			p.Fail("files", "Not a name", "%q is not a path below the folder.", name)
		}
		if p.Failed() {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) { // of a relative path, so that it ends
			if _, ok := f.Files[dir]; ok {
				p.Fail("files", "A file and a folder", "%q is a file, and %q is below it.", dir, name)
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

// download adds the download of a file, and returns it.
func (f Fetch) download(p *step.Plan, name, base string, urls []string, sum string) action.Input {
	get := fetch(p, name, "fetch "+base, sources.Spec{Kind: sources.KindFile, Name: base, URLs: urls, Size: f.Size,
		SHA256: sum, UserAgent: f.UserAgent, Executable: f.Executable, Headers: f.Headers, Out: "file"})
	online(get, "fetch") // it keeps downloads in the cache
	return get.Out("file")
}

// address is that of a file or folder to download, or fails.
func address(p *step.Plan, argument, at string) *url.URL {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
		p.Fail(argument, "Not an address", "%q is none of https://, http:// and file://.", at)
	}
	return u
}

// digestOf is a SHA-256 digest as sources want it, or fails.
func digestOf(p *step.Plan, argument, text string) string {
	sum := strings.ToLower(text)
	if len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
		p.Fail(argument, "Not a digest", "%q is no SHA-256 digest, which has 64 hexadecimal digits. `sha256sum FILE` prints a file's.", text)
	}
	return sum
}

// fetch adds an action that gets or unpacks something. apt-get and its helpers are in its PATH.
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

// noLogin refuses addresses with a login in them: what an action is told is in its key, in the cache and in documents of runs. The line is not shown.
func noLogin(p *step.Plan, addrs ...string) {
	for _, addr := range addrs {
		u, err := url.Parse(addr)
		if err != nil || u.User == nil {
			continue
		}
		if _, password := u.User.Password(); password || strings.HasPrefix(u.Scheme, "http") { // of http a user alone is a token, perhaps
			p.Fail("", "A login in an address", "An address at %s has a login in it, which would be in keys and in the cache. Take it out, and write it into ~/.netrc: machine %s login … password …", u.Host, u.Hostname())
			return
		}
	}
}

// online lets an action use the network, and the machine for the reason that is said.
func online(a *step.Action, why string) {
	a.Set(action.PropertyNetwork, "true").Set(action.PropertyHost, why).Set(action.PropertyPool, action.DownloadsPool+"=1")
}

// Download is how much an action would download, in bytes, beside what the folder of downloads has; 0 where it is not known, or nothing.
func Download(s action.Spec, downloads string) int64 {
	if spec, ok := argsOf(s, sources.Tool); ok {
		return spec.Download(downloads)
	}
	return 0
}

// argsOf returns what an action tells a built-in tool, if it is that one's.
func argsOf[T any](s action.Spec, of tool.Name[T]) (args T, ok bool) {
	if s.Platform[action.PropertyTool] != string(of) {
		return args, false
	}
	for _, in := range s.Inputs {
		if in.Path == tool.ArgsFile && in.Content != nil {
			return args, json.Unmarshal(in.Content.Data, &args) == nil
		}
	}
	return args, false
}
