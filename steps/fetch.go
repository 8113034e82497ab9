package steps

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// Fetch is kind fetch: it downloads a file, and unpacks it if asked.
type Fetch struct{}

// Schema returns the arguments of fetch.
func (Fetch) Schema() step.Schema {
	return step.Schema{
		Summary: "Downloads a file whose digest is known, and unpacks it if it is an archive.",
		Args: hcldec.ObjectSpec{
			"url":          &hcldec.AttrSpec{Name: "url", Type: cty.String, Required: true},
			"mirrors":      &hcldec.AttrSpec{Name: "mirrors", Type: cty.List(cty.String)},
			"sha256":       &hcldec.AttrSpec{Name: "sha256", Type: cty.String, Required: true},
			"size":         &hcldec.AttrSpec{Name: "size", Type: cty.Number},
			"unpack":       &hcldec.AttrSpec{Name: "unpack", Type: cty.Bool},
			"strip_prefix": &hcldec.AttrSpec{Name: "strip_prefix", Type: cty.String},
			"executable":   &hcldec.AttrSpec{Name: "executable", Type: cty.Bool},
			"user_agent":   &hcldec.AttrSpec{Name: "user_agent", Type: cty.String},
			"header": &hcldec.BlockListSpec{TypeName: "header", Nested: hcldec.ObjectSpec{
				"name":     &hcldec.BlockLabelSpec{Index: 0, Name: "name"},
				"variable": &hcldec.AttrSpec{Name: "variable", Type: cty.String, Required: true},
				"prefix":   &hcldec.AttrSpec{Name: "prefix", Type: cty.String},
				"hosts":    &hcldec.AttrSpec{Name: "hosts", Type: cty.List(cty.String)},
			}},
		},
		ArgDocs: map[string]string{
			"url":          "Address of the file: https, http or file.",
			"mirrors":      "More addresses of the same file, tried in order.",
			"sha256":       "Digest of the file: 64 hexadecimal digits.",
			"size":         "Size of the file in bytes, if known.",
			"unpack":       "Whether the file is an archive (zip, tar.*, deb) to be unpacked into outputs.dir.",
			"strip_prefix": "Folder of the archive whose content becomes outputs.dir.",
			"executable":   "Whether outputs.file is a program.",
			"user_agent":   "What to call oneself, for servers that refuse programs.",
			"header":       "A line of the request with a secret: a block `header \"Authorization\"` with `variable = \"token\"` and `prefix = \"Bearer \"` takes it from HEXMAGE_VAR_token. It goes to the url's host, or to hosts, and into no key, file or log.",
		},
		Outputs: []step.OutputSpec{
			{Name: "file", Class: action.File, Doc: "The file as it was downloaded."},
			{Name: "dir", Class: action.Tree, Doc: "What was in the archive; without unpack, a folder with the file under its own name."},
		},
	}
}

// Plan plans the download, and the unpacking.
func (Fetch) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	const file = "file"
	addr := r.String("url")
	var diags hcl.Diagnostics
	u, err := url.Parse(addr)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file" {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Not an address", Subject: r.ArgRange("url"),
			Detail: fmt.Sprintf("%q is none of https://, http:// and file://.", addr)})
	}
	sum := strings.ToLower(r.String("sha256"))
	if len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Not a digest", Subject: r.ArgRange("sha256"),
			Detail: fmt.Sprintf("%q is no SHA-256 digest, which has 64 hexadecimal digits. `sha256sum FILE` prints a file's.", r.String("sha256"))})
	}
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	base := path.Base(u.Path)
	if base == "/" || base == "." || base == "" {
		base = "file"
	}
	args, platform := step.Tool(sources.Name, sources.Version, "--spec", specFile, "--out", file)
	platform[action.PropertyNetwork] = "true"
	platform[action.PropertyHost] = "fetch" // it keeps downloads in the cache
	get := sources.Spec{Kind: sources.KindFile, Name: base, URLs: append([]string{addr}, r.Strings("mirrors")...), Size: int64(r.Int("size", 0)),
		SHA256: sum, UserAgent: r.String("user_agent"), Executable: r.Bool("executable")}
	get.Headers = headers(r)
	p := step.Planned{
		Specs: []action.Spec{{Description: "fetch " + base, Args: args, Env: environment(), Platform: platform, Timeout: fetchTimeout,
			Inputs:  []action.Input{{Path: specFile, Content: &action.Content{Data: get.Encode()}}},
			Outputs: []action.Output{{Path: file}}}},
		Outputs: map[string]action.Artifact{
			"file": {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Path: file}}}},
			"dir":  {Class: action.Tree, Parts: []action.Input{{Path: base, Spec: &action.SpecOutput{Path: file}}}},
		},
	}
	if r.Bool("unpack") {
		unpack(&p, base, file, r.String("strip_prefix"), sum)
	}
	return p, nil
}

// unpack adds the action that unpacks the file.
func unpack(p *step.Planned, base, file, prefix, sum string) {
	p.Specs[0].Name = "download"
	args, platform := step.Tool(sources.Name, sources.Version, "--spec", specFile, "--out", treeDir)
	spec := sources.Spec{Kind: sources.KindArchive, Name: base, File: "archive", SHA256: sum, StripPrefix: prefix}
	p.Specs = append(p.Specs, action.Spec{Name: "unpack", Description: "unpack " + base, Args: args, Env: environment(), Platform: platform,
		Inputs: []action.Input{{Path: specFile, Content: &action.Content{Data: spec.Encode()}},
			{Path: spec.File, Spec: &action.SpecOutput{Spec: "download", Path: file}}},
		Outputs: []action.Output{{Path: treeDir, Tree: true}}})
	p.Outputs["file"] = action.Artifact{Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: "download", Path: file}}}}
	p.Outputs["dir"] = action.Artifact{Class: action.Tree, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: "unpack", Path: treeDir}}}}
}

// headers are the header blocks.
func headers(r step.Request) []sources.Header {
	blocks := r.Args.GetAttr("header")
	if blocks.IsNull() {
		return nil
	}
	var hs []sources.Header
	text := func(v cty.Value) string {
		if v.IsNull() {
			return ""
		}
		return v.AsString()
	}
	for _, b := range blocks.AsValueSlice() {
		h := sources.Header{Name: text(b.GetAttr("name")), Variable: text(b.GetAttr("variable")), Prefix: text(b.GetAttr("prefix"))}
		if hosts := b.GetAttr("hosts"); !hosts.IsNull() {
			for _, v := range hosts.AsValueSlice() {
				h.Hosts = append(h.Hosts, text(v))
			}
		}
		hs = append(hs, h)
	}
	return hs
}
