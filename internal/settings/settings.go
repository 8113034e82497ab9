// Package settings parses the settings files: hexmage.hcl of a workspace and config.hcl of a user. Settings control how
// hexmage works. They never change the result of a build and are not part of a cache key.
//
// The package parses bytes. It does not know where the files are, or which remote a command uses.
package settings

import (
	"fmt"
	"math"
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/remote"
)

// File names of the settings.
const (
	WorkspaceFile = "hexmage.hcl"
	UserFile      = "config.hcl"
)

// Remote is a `remote` block.
type Remote struct {
	remote.Options // except Upload, Headers and Say

	Upload Policy
	File   string // the file that contains the block

	headers *hclsyntax.Attribute // nil if absent
}

// Must reports whether an action must run on the server if the server can run it.
func (r *Remote) Must() bool { return r.Execute && r.Fallback == remote.FallbackFail }

// Policy says when hexmage uploads results: never, always, or only in continuous integration.
type Policy string

// Values of Policy.
const (
	Never  Policy = "never"
	CI     Policy = "ci" // if the variable CI is set
	Always Policy = "always"
)

// Limits for values of settings.
const (
	maxTime    = 24 * time.Hour
	maxRetries = 100
)

// Parse parses a settings file and returns the remotes. The argument name is the file name for diagnostics. The
// argument own must be true only for the user's own file. Only that file may start programs, read the environment or
// name private keys, because a workspace may be untrusted. After errors, the result is incomplete.
func Parse(src []byte, name string, own bool) ([]Remote, hcl.Diagnostics) {
	parsed, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return nil, diags
	}
	body := parsed.Body.(*hclsyntax.Body)
	diags = config.UnexpectedIn(body, nil, []string{"remote", "cache"}, name)
	_, more := maxSize(body, name, own)
	diags = append(diags, more...)
	var remotes []Remote
	first := map[string]hcl.Range{}
	for _, b := range body.Blocks {
		if b.Type != "remote" {
			continue
		}
		r := reader{own: own, file: name}
		got := r.remote(b)
		if diags = append(diags, r.diags...); r.diags.HasErrors() {
			continue
		}
		if other, ok := first[got.Name]; ok {
			diags = append(diags, mistake(b.DefRange(), "Declared twice",
				"remote %q is declared here and at %s:%d. Rename or remove one of them.", got.Name, other.Filename,
				other.Start.Line))
			continue
		}
		first[got.Name] = b.DefRange()
		remotes = append(remotes, got)
	}
	return remotes, diags
}

// MaxSize parses a settings file and returns the maximum size of the cache in bytes, or 0 for unlimited. The argument
// own must be true only for the user's own file. Only that file may contain a size.
func MaxSize(src []byte, name string, own bool) (int64, hcl.Diagnostics) {
	parsed, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return 0, diags
	}
	return maxSize(parsed.Body.(*hclsyntax.Body), name, own)
}

func maxSize(body *hclsyntax.Body, name string, own bool) (size int64, diags hcl.Diagnostics) {
	var first *hclsyntax.Block
	for _, b := range body.Blocks {
		if b.Type != "cache" {
			continue
		}
		r := reader{own: own, file: name}
		r.diags = config.UnexpectedIn(b.Body, []string{"max_size"}, nil, "cache")
		text := r.text(b, "max_size", "")
		n, err := bytesize.Parse(text)
		switch {
		case first != nil:
			r.fail(b.DefRange(), "Declared twice", "cache is declared here and at %s:%d. Remove one of them.",
				name,
				first.DefRange().Start.Line)
		case !own:
			r.fail(b.DefRange(), "User setting in a workspace",
				"All your workspaces share one cache. Move the cache block to your own %s.", UserFile)
		case len(b.Labels) > 0:
			r.fail(b.LabelRanges[0], "Invalid name",
				"A cache block has no label. Write cache { max_size = \"50GB\" }.")
		case text != "" && err != nil:
			r.fail(b.Body.Attributes["max_size"].Expr.Range(), "Invalid max_size", "max_size: %v.", err)
		case text != "":
			size = n
		}
		first = b
		diags = append(diags, r.diags...)
	}
	return size, diags
}

// Headers returns the headers in the block, with values from the environment. The function env returns the value of an
// environment variable.
func (r *Remote) Headers(env func(name string) string) (map[string]string, hcl.Diagnostics) {
	if r.headers == nil {
		return nil, nil
	}
	vars := map[string]cty.Value{}
	for _, t := range r.headers.Expr.Variables() {
		name, ok := variable(t)
		if !ok {
			return nil, hcl.Diagnostics{mistake(t.SourceRange(), "Unknown name",
				"headers can refer only to environment variables. Write env.NAME, such as env.TEAM_TOKEN.")}
		}
		v := env(name)
		if v == "" {
			return nil, hcl.Diagnostics{mistake(t.SourceRange(), "Missing environment variable",
				"Set the environment variable %s, or run without a remote (--remote off).", name)}
		}
		vars[name] = cty.StringVal(v)
	}
	read := reader{own: true, file: r.File,
		vars: &hcl.EvalContext{Variables: map[string]cty.Value{"env": cty.ObjectVal(vars)}}}
	v, ok := read.value(r.headers, cty.Map(cty.String))
	if !ok {
		return nil, read.diags
	}
	all := map[string]string{}
	for name, value := range v.AsValueMap() {
		text := value.AsString()
		if !headerName(name) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			return nil, hcl.Diagnostics{mistake(r.headers.Expr.Range(), "Invalid header",
				"Invalid header %q. Use letters, digits, - and _ in the name, and printable ASCII in the value. "+
					"Do not use the reserved prefix grpc- or the suffix -bin.", name)}
		}
		all[name] = text
	}
	return all, nil
}

func headerName(name string) bool {
	lower := strings.ToLower(name)
	return name != "" && textproto.CanonicalMIMEHeaderKey(name) != "" && !strings.HasPrefix(lower, "grpc-") &&
		!strings.HasSuffix(lower, "-bin") &&
		!strings.ContainsFunc(lower,
			func(c rune) bool { return c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') })
}

// variable returns the NAME in env.NAME.
func variable(t hcl.Traversal) (string, bool) {
	if t.RootName() != "env" || len(t) != 2 {
		return "", false
	}
	a, ok := t[1].(hcl.TraverseAttr)
	return a.Name, ok
}

// reader reads one block.
type reader struct {
	own   bool
	file  string
	vars  *hcl.EvalContext // nil if expressions must be constant
	diags hcl.Diagnostics
}

func (r *reader) fail(at hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, mistake(at, summary, detail, args...))
}

// ofUser returns the attributes that only the user's own file may have.
func ofUser() []string { return []string{"credential_helper", "headers"} }

func (r *reader) remote(b *hclsyntax.Block) Remote {
	out := Remote{File: r.file, Upload: Never}
	out.IdleTimeout, out.UploadWait = remote.DefaultIdleTimeout, remote.DefaultUploadWait
	out.Retries = remote.DefaultRetries
	if len(b.Labels) != 1 {
		r.fail(b.DefRange(), "Invalid remote name", "A remote block needs exactly one label, but this block has %d. "+
			"Write remote \"team\" { cache = \"…\" }.",
			len(b.Labels))
		return out
	}
	out.Name = b.Labels[0]
	if !hclsyntax.ValidIdentifier(out.Name) || out.Name == "off" {
		r.fail(b.LabelRanges[0], "Invalid name",
			"Invalid remote name %q. Use letters, digits, - and _, but not the reserved name \"off\".",
			out.Name)
	}
	what := fmt.Sprintf("remote %q", out.Name)
	r.diags = append(r.diags,
		config.UnexpectedIn(b.Body,
			append(ofUser(), "cache", "instance", "namespace", "upload", "upload_wait", "execute", "fallback",
				"platform", "idle_timeout", "retries"), []string{"tls"}, what)...)
	for _, name := range ofUser() {
		if a := b.Body.Attributes[name]; a != nil && !r.own {
			r.fail(a.SrcRange, "User setting in a workspace", "A workspace must not start programs or read "+
				"your environment, because its source may be untrusted. Move %s to remote %[3]q in your own %[2]s, "+
				"which replaces this remote.", name, UserFile, out.Name)
		}
	}
	at := b.DefRange()
	if a := b.Body.Attributes["cache"]; a != nil {
		at = a.Expr.Range()
		out.Address = r.text(b, "cache", "")
	} else {
		r.fail(at, "Missing server", "Add cache = \"grpcs://HOST:PORT\" to %s.", what)
	}
	if err := remote.CheckAddress(out.Address); err != nil && out.Address != "" {
		r.fail(at, "Invalid address", "cache: %v.", err)
	}
	out.Instance = r.text(b, "instance", "")
	out.Namespace = r.text(b, "namespace", "")
	out.Upload = Policy(r.word(b, "upload", string(Never), string(CI), string(Always)))
	out.Execute = r.flag(b, "execute")
	out.Fallback = remote.Fallback(r.word(b, "fallback", string(remote.FallbackLocal), string(remote.FallbackFail)))
	if a := b.Body.Attributes["platform"]; a != nil {
		if v, ok := r.value(a, cty.Map(cty.String)); ok {
			out.Platform = map[string]string{}
			for name, value := range v.AsValueMap() {
				out.Platform[name] = value.AsString()
			}
		}
	}
	for _, name := range []string{"fallback", "platform"} {
		if a := b.Body.Attributes[name]; a != nil && !out.Execute {
			r.fail(a.SrcRange, "Unused setting",
				"%s applies only to remote execution. Add execute = true, or remove this argument.", name)
		}
	}
	out.IdleTimeout = r.duration(b, "idle_timeout", out.IdleTimeout)
	out.UploadWait = r.duration(b, "upload_wait", out.UploadWait)
	out.Retries = r.number(b, "retries", out.Retries)
	if a := b.Body.Attributes["credential_helper"]; a != nil {
		if v, ok := r.value(a, cty.List(cty.String)); ok {
			for _, e := range v.AsValueSlice() {
				out.Credentials = append(out.Credentials, e.AsString())
			}
		}
		if len(out.Credentials) == 0 || !filepath.IsAbs(out.Credentials[0]) {
			r.fail(a.Expr.Range(), "Invalid credential helper",
				"credential_helper must be a list of the absolute path of a program and its arguments.")
		}
	}
	if out.headers = b.Body.Attributes["headers"]; (out.headers != nil || out.Credentials != nil) && r.own &&
		out.Address != "" && !remote.AllowsCredentials(out.Address) {
		r.fail(at, "Credentials without TLS",
			"hexmage sends the values of credential_helper and headers only over TLS. Use a grpcs:// address.")
	}
	for _, tls := range b.Body.Blocks {
		if tls.Type == "tls" {
			r.tls(tls, &out.TLS)
		}
	}
	return out
}

func (r *reader) tls(b *hclsyntax.Block, out *remote.TLS) {
	r.diags = append(r.diags, config.UnexpectedIn(b.Body, []string{"ca", "certificate", "key"}, nil, "tls")...)
	file := func(name string) string {
		p := r.text(b, name, "")
		if p != "" && !filepath.IsAbs(p) {
			if r.own {
				r.fail(b.Body.Attributes[name].Expr.Range(), "Invalid path",
					"%s = %q is a relative path. Use an absolute path.", name, p)
			}
			p = filepath.Join(filepath.Dir(r.file), filepath.FromSlash(p))
		} else if p != "" && !r.own {
			r.fail(b.Body.Attributes[name].Expr.Range(), "Invalid path",
				"%s = %q is an absolute path. Use a path relative to the workspace.", name, p)
		}
		return p
	}
	out.CA = file("ca")
	if !r.own && (b.Body.Attributes["certificate"] != nil || b.Body.Attributes["key"] != nil) {
		r.fail(b.DefRange(), "User setting in a workspace",
			"A workspace must not contain your private key. Move certificate and key to your own %s.", UserFile)
		return
	}
	if out.Certificate, out.Key = file("certificate"), file("key"); (out.Certificate == "") != (out.Key == "") {
		r.fail(b.DefRange(), "Incomplete key pair",
			"Client authentication needs both certificate and key. Set both arguments.")
	}
}

func (r *reader) text(b *hclsyntax.Block, name, otherwise string) string {
	a := b.Body.Attributes[name]
	if a == nil {
		return otherwise
	}
	v, ok := r.value(a, cty.String)
	if !ok {
		return otherwise
	}
	s := v.AsString()
	if s == "" || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		r.fail(a.Expr.Range(), "Invalid "+name, "Invalid %s %q. Use one non-empty line.", name, s)
	}
	return s
}

// word returns the attribute's value, which must be one of words. The default is the first.
func (r *reader) word(b *hclsyntax.Block, name string, words ...string) string {
	s := r.text(b, name, words[0])
	if !slices.Contains(words, s) {
		r.fail(b.Body.Attributes[name].Expr.Range(), "Invalid "+name, "Invalid %s %q. Use one of %s.", name, s,
			strings.Join(words, ", "))
	}
	return s
}

func (r *reader) duration(b *hclsyntax.Block, name string, otherwise time.Duration) time.Duration {
	s := r.text(b, name, "")
	if s == "" {
		return otherwise
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > maxTime {
		r.fail(b.Body.Attributes[name].Expr.Range(), "Invalid "+name,
			"Invalid %s %q. Use a duration such as \"10s\" or \"2m\".", name, s)
	}
	return d
}

func (r *reader) flag(b *hclsyntax.Block, name string) bool {
	a := b.Body.Attributes[name]
	if a == nil {
		return false
	}
	v, ok := r.value(a, cty.Bool)
	return ok && v.True()
}

func (r *reader) number(b *hclsyntax.Block, name string, otherwise int) int {
	a := b.Body.Attributes[name]
	if a == nil {
		return otherwise
	}
	v, ok := r.value(a, cty.Number)
	if !ok {
		return otherwise
	}
	f, _ := v.AsBigFloat().Float64()
	if f != math.Trunc(f) || f < 0 || f > maxRetries {
		r.fail(a.Expr.Range(), "Invalid "+name, "Invalid %s. Use a whole number from 0 to %d.", name, maxRetries)
		return otherwise
	}
	return int(f)
}

// value evaluates an attribute.
func (r *reader) value(a *hclsyntax.Attribute, want cty.Type) (cty.Value, bool) {
	v, diags := a.Expr.Value(r.vars)
	if r.diags = append(r.diags, diags...); diags.HasErrors() {
		return v, false
	}
	got, err := convert.Convert(v, want)
	if err != nil || got.IsNull() || !got.IsWhollyKnown() || want.IsCollectionType() &&
		slices.ContainsFunc(got.AsValueSlice(), cty.Value.IsNull) {
		r.fail(a.Expr.Range(), "Wrong type", "%s must be a %s.", a.Name, want.FriendlyName())
		return got, false
	}
	return got, true
}

func mistake(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...),
		Subject: &at}
}
