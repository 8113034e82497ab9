package steps

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// FetchFiles are the arguments of kind fetch_files: it downloads the files of a model, or of whatever has several, into one folder.
type FetchFiles struct {
	URL       string            `arg:"url,required"`
	Mirrors   []string          `arg:"mirrors"`
	SHA256    map[string]string `arg:"sha256,required"`
	UserAgent string            `arg:"user_agent"`
	Headers   []sources.Header  `block:"header"`
}

func fetchFilesSchema() step.Schema {
	return step.Schema{
		Summary: "Downloads files whose digests are known, such as those of a model, into one folder. Each goes on where it was cut off, and is verified.",
		ArgDocs: map[string]string{
			"url":        "Address of the folder: https, http or file. Names follow it after a slash.",
			"mirrors":    "More addresses of the same folder, tried in order.",
			"sha256":     "By name, the digest of each file: 64 hexadecimal digits. A hub shows them; `sha256sum FILE` prints them.",
			"user_agent": "As of `fetch`.",
			"header":     "As of `fetch`: a block for a hub's token.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The folder."}},
		Example: `step "fetch_files" "qwen" {
  url = "https://example.com/Qwen1.5-1.8B-Chat/resolve/main"
  sha256 = {
    "config.json"       = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    "tokenizer.json"    = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
    "model.safetensors" = "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13"
  }
}`,
	}
}

// Plan plans a download for each file.
func (f FetchFiles) Plan(p *step.Plan) {
	for i, at := range append([]string{f.URL}, f.Mirrors...) {
		argument := "url"
		if i > 0 {
			argument = "mirrors"
		}
		if u := address(p, argument, at); u != nil && (u.RawQuery != "" || u.Fragment != "") {
			p.Fail(argument, "Not a folder's address", "%q has something after its path, and names of files are to follow it. For one file with such an address take kind fetch.", at)
		}
	}
	if len(f.SHA256) == 0 {
		p.Fail("sha256", "No files", "sha256 names no file.")
	}
	var dir []action.Input
	for _, name := range slices.Sorted(maps.Keys(f.SHA256)) {
		sum := digestOf(p, "sha256", f.SHA256[name])
		if name != path.Clean(name) || path.IsAbs(name) || strings.HasPrefix(name, "..") || name == "." || strings.ContainsAny(name, "\\\x00") {
			p.Fail("sha256", "Not a name", "%q is no path below the folder.", name)
		}
		if p.Failed() {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) { // of a relative path, so that it ends
			if _, ok := f.SHA256[dir]; ok {
				p.Fail("sha256", "A file and a folder", "%q is a file, and %q is to be below it.", dir, name)
			}
		}
		var urls []string
		for _, at := range append([]string{f.URL}, f.Mirrors...) {
			urls = append(urls, strings.TrimSuffix(at, "/")+"/"+(&url.URL{Path: name}).EscapedPath())
		}
		get := fetch(p, name, "fetch "+name, sources.Spec{Kind: sources.KindFile, Name: path.Base(name), URLs: urls, SHA256: sum, UserAgent: f.UserAgent, Headers: f.Headers, Out: "file"})
		online(get, "fetch") // it keeps downloads in the cache
		dir = append(dir, get.Out("file").As(name))
	}
	p.Tree("dir", dir...)
}
