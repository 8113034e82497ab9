package cli

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains"
)

// templates are the files that init writes, with @WORDS@ for the user's values.
//
//go:embed templates
var templates embed.FS

// initCmd is `hexmage init [DIR]`.
type initCmd struct {
	In       string   `arg:"" optional:"" name:"dir" help:"Folder of the workspace, which contains the folder pipelines/. Default: the workspace that contains the working directory, or else the working directory itself."`
	Op       string   `placeholder:"OP" help:"Write a pipeline for an op package. OP is the folder of the op package, or the name of a new op."`
	Model    string   `placeholder:"PATH" help:"Write a pipeline for a model. PATH is a Hugging Face folder, a GGUF file or an ONNX file."`
	SDK      []string `name:"sdk" placeholder:"DIR" help:"Use the QAIRT, Hexagon SDK or NDK in DIR. Can be combined with --op. May be repeated."`
	Lab      bool     `help:"Write a pipeline that measures the speed of a program on phones."`
	CI       string   `name:"ci" placeholder:"HOST" enum:",github,gitlab" default:"" help:"Also write a configuration for CI. HOST is github or gitlab."`
	Name     string   `placeholder:"NAME" help:"Set the name of the pipeline. Default: a name derived from the op package or model."`
	Arch     string   `placeholder:"ARCH" help:"Set the Hexagon arch of a SoC that hexmage's catalog lacks. Example: v81. Needs --soc and --soc-model."`
	SoCModel int      `name:"soc-model" placeholder:"N" help:"Set the soc_model (QNN's number) of a SoC that hexmage's catalog lacks. Example: 69. Needs --soc and --arch."`
	VTCM     int      `name:"vtcm" placeholder:"MB" help:"Set the VTCM size of a SoC that hexmage's catalog lacks. Unit: MB. Example: 8. Default: unknown."`
	Print    bool     `help:"Print the files instead of writing them."`
}

// Help returns the examples of `hexmage init --help`.
func (*initCmd) Help() string {
	return `Writes a short pipeline that runs without changes. Prints the commands to run the pipeline. Without
flags, writes a small example. Does not change existing files.

Examples:

    hexmage init                                           a small example
    hexmage init --op Scale                                a new op, in the workspace's op package or in a new op package
    hexmage init --op LLaMAPackage --soc SM8650            an existing op package, for SM8650
    hexmage init --op LLaMAPackage --sdk $QAIRT_SDK_ROOT   an existing op package, with an installed SDK

    hexmage init --model Qwen3-0.6B                        a model in a Hugging Face folder, on Qualcomm's emulator
    hexmage init --model net.onnx --print                  print the files for an ONNX model
    hexmage init bench --lab --ci gitlab                   a speed measurement in folder bench, with GitLab CI
    hexmage init --soc SM9950 --arch v81 --soc-model 113   a small example, for a SoC that the catalog lacks`
}

// newFile is a file that init writes, with its slash path in the workspace.
type newFile struct{ Path, Text string }

// Run writes a pipeline and its files.
func (c *initCmd) Run(_ context.Context, a *app) error {
	root := a.here()
	if c.In != "" {
		root = absolute(a.WorkDir, c.In)
	}
	if st, err := os.Stat(root); err == nil && !st.IsDir() {
		return usageError("%s is a file; name a folder for the workspace", c.In)
	}
	soc, err := a.oneSoC("")
	if err != nil {
		return err
	}
	own := *a
	own.Root = root
	w := &starter{c: c, a: &own, soc: cmp.Or(soc, defaultSoC)}
	if err := w.collect(); err != nil {
		return err
	}
	if c.Print {
		for _, f := range w.files {
			if len(w.files) > 1 {
				a.printf("# %s\n\n", f.Path)
			}
			a.print(f.Text)
		}
		return nil
	}
	if err := w.write(); err != nil {
		return err
	}
	return w.say()
}

// pipeline reports whether a flag describes a pipeline.
func (c *initCmd) pipeline() bool {
	return c.Op != "" || c.Model != "" || len(c.SDK) > 0 || c.Lab || c.Name != ""
}

const defaultSoC = "SM8750"

// starter collects the files for init.
type starter struct {
	c        *initCmd
	a        *app // in the new workspace
	soc      string
	catalog  *toolchains.Catalog
	pipeline string   // its name; "" if none is written
	next     []string // commands after init, without "hexmage"
	files    []newFile
}

// collect collects the files to write.
func (s *starter) collect() error {
	d, err := s.a.domain()
	if err != nil {
		return err
	}
	s.catalog = d.catalog
	if err := s.target(); err != nil {
		return err
	}
	own := names(safepath.FS(s.a.Root))
	// else the workspace has pipelines, and the user wants additional files
	if s.c.pipeline() || len(own) == 0 || len(s.files) == 0 && s.c.CI == "" {
		if err := s.start(); err != nil {
			return err
		}
	}
	if s.c.CI == "" {
		return nil
	}
	if s.pipeline != "" {
		own = append(own, s.pipeline)
	}
	slices.Sort(own)
	f := newFile{Path: map[string]string{"github": ".github/workflows/hexmage.yml", "gitlab": ".gitlab-ci.yml"}[s.c.CI]}
	f.Text, err = fill(s.c.CI+".yml", "@names@", strings.Join(slices.Compact(own), " "))
	s.files = append(s.files, f)
	return err
}

// target looks up the SoC, and writes a block for an unknown SoC.
func (s *starter) target() error {
	known, err := s.catalog.FindSoC(s.soc)
	switch own := s.c.Arch != "" || s.c.SoCModel != 0; {
	case err == nil && own:
		return usageError("--arch and --soc-model are for unknown SoCs, but %s is in the catalog (Hexagon %s, "+
			"soc_model %d); omit both flags", known.Name, known.Arch, known.SoCModel)
	case err == nil:
		s.soc = known.Name
		return nil
	case !own:
		return usageError("%w", err) // the error names --arch and --soc-model
	case s.c.Arch == "" || s.c.SoCModel <= 0:
		return usageError("an unknown SoC needs --arch and --soc-model; `hexmage device info` prints both values for " +
			"a connected phone")
	case s.catalog.FindArch(s.c.Arch) == nil:
		return usageError("--arch %s: unknown Hexagon arch; to add an arch, see docs/catalog.md", s.c.Arch)
	case !named(s.soc):
		return usageError("--soc %s: invalid name; use letters and digits", s.soc)
	}
	text, err := fill("soc.hcl", "@soc@", s.soc, "@arch@", s.c.Arch, "@model@", strconv.Itoa(s.c.SoCModel), "@vtcm@",
		strconv.Itoa(s.c.VTCM))
	s.files = append(s.files, newFile{"toolchains/" + s.soc + ".hcl", text})
	return err
}

// named reports whether a text consists of letters, digits, - and _.
func named(text string) bool { return text != "" && text == nameOf(text) }

// nameOf converts a text to a name.
func nameOf(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '-'
	}, text), "-")
}

// start chooses and names the pipeline by the user's files.
func (s *starter) start() error {
	c := s.c
	what := 0
	for _, has := range []bool{c.Op != "", c.Model != "", c.Lab, len(c.SDK) > 0 && c.Op == ""} {
		if has {
			what++
		}
	}
	if what > 1 {
		return usageError("--op, --model, --lab and --sdk each create a pipeline; use one of them, or --op with --sdk")
	}
	template, name, words := "nothing", "first", []string{}
	var err error
	switch {
	case c.Op != "":
		template = "op"
		if name, words, err = s.op(); name == "" {
			return err
		}
	case c.Model != "":
		if name, words, err = s.has(c.Model); err == nil {
			template, err = templateFor(absolute(s.a.WorkDir, c.Model))
		}
		if err == nil && template == "onnx" {
			var more []string
			more, err = graphWords(absolute(s.a.WorkDir, c.Model))
			words = append(words, more...)
		}
	case c.Lab:
		template, name = "lab", "lab"
		text, err := fill("bench.sh")
		if err != nil {
			return err
		}
		s.files = append(s.files, newFile{"bench.sh", text})
	case s.catalog.MllmChips[s.soc] == 0: // mllm's compiler lacks it
		template = "hexagon"
	}
	if err != nil {
		return err
	}
	var blocks string
	for i, folder := range c.SDK {
		is, block, err := s.installed(folder)
		if err != nil {
			return err
		}
		if blocks += block; i == 0 && c.Op == "" {
			version, err := s.release(is.Name, "", hasSimulation)
			if err != nil {
				return err
			}
			template, name = "sdk", is.Name
			words = []string{"@sdk@", is.Name, "@simulated@", version, "@file@", versionFile(is)}
		}
	}
	name = cmp.Or(c.Name, name)
	switch {
	case !named(name):
		return usageError("invalid pipeline name %q; use letters, digits, - and _ in --name", name)
	case workspace.Has(hexmage.Shipped, name):
		return usageError("your pipeline would hide the shipped pipeline %s; choose another name with --name", name)
	}
	s.pipeline, s.next = name, []string{"plan " + name, "run " + name, "report"}
	if template == "onnx" {
		s.next = []string{"plan " + name, "run " + name, "run " + name + " --var samples=FOLDER", "report"}
	}
	if template == "op" {
		own, err := s.forDevice(blocks)
		if err != nil {
			return err
		}
		blocks += own
	}
	versions, err := s.versions(template)
	if err != nil {
		return err
	}
	words = append(words, versions...)
	text, err := fill(template+".hcl",
		append(words, "@soc@", s.soc, "@name@", name, "@pad@", strings.Repeat(" ", len(name)+11),
			"profile \"device\" {}", "profile \"device\" {"+blocks+"}")...)
	if err != nil {
		return err
	}
	s.files = append([]newFile{{workspace.Folder + "/" + name + ".hcl", text}}, s.files...)
	return nil
}

// hasSimulation reports whether a simulated SDK of the release exists.
func hasSimulation(r *toolchains.Release) bool { return r.Source("embedded") != nil }

// versions returns the template's words for releases. It chooses releases with simulated SDKs that suit the SoC.
func (s *starter) versions(template string) ([]string, error) {
	preferred := ""
	if template == "hexagon" {
		preferred = "2.42.0.251225" // the first with v81, the arch of new SoCs
	}
	qairt, err := s.release("qairt", preferred, hasSimulation)
	if err != nil {
		return nil, err
	}
	hexagon, err := s.release("hexagon", "", hasSimulation)
	return []string{"@qairt@", qairt, "@hexagon@", hexagon}, err
}

// forDevice returns a toolchain block for profile device if a QAIRT suits the SoC better than each simulated one. It
// returns "" otherwise, and if the profile has a block of its own.
func (s *starter) forDevice(blocks string) (string, error) {
	if strings.Contains(blocks, `toolchain "qairt"`) {
		return "", nil
	}
	base, err := s.release("qairt", "", hasSimulation)
	if err != nil {
		return "", err
	}
	best, err := s.release("qairt", base, func(*toolchains.Release) bool { return true })
	if err != nil || best == base {
		return "", err
	}
	return fmt.Sprintf("\ntoolchain \"qairt\" { version = %s } # knows %s\n", quoted(best), s.soc), nil
}

// release returns the release of a toolchain that suits the SoC best; "" prefers the default one.
func (s *starter) release(name, preferred string, among func(*toolchains.Release) bool) (string, error) {
	t, r, err := s.catalog.Find(name, preferred)
	if err != nil {
		return "", engineError(err)
	}
	target := &qnn.Target{SoC: s.soc, Arch: s.c.Arch, SoCModel: s.c.SoCModel, VTCMMB: s.c.VTCM}
	if known, err := s.catalog.FindSoC(s.soc); err == nil {
		target = known.Target()
	}
	best, diags := s.catalog.Best(name, target, r.Version, func(x *qnn.Release) bool {
		return slices.ContainsFunc(t.Releases, func(h *toolchains.Release) bool {
			return h.Version == x.Version && among(h)
		})
	})
	if diags.HasErrors() {
		return "", s.a.printDiags(diags, nil)
	}
	return cmp.Or(best, r.Version), nil
}

// op returns the pipeline's name and the words of its template, for a folder with sources or for a new op, whose source
// it adds. The name is "" for an op in an op package of the workspace.
func (s *starter) op() (name string, words []string, err error) {
	op, folder := s.c.Op, s.c.Name
	if _, err := os.Stat(absolute(s.a.WorkDir, op)); err == nil || oppackage.ValidateName(op) != nil {
		return s.has(op)
	}
	found, err := fs.Glob(safepath.FS(s.a.Root), "*/src/ops")
	if err != nil {
		return "", nil, engineError(err)
	}
	for i := range found {
		found[i] = path.Dir(path.Dir(found[i]))
	}
	switch {
	case folder != "":
	case len(found) == 0:
		folder = "ops"
	case len(found) == 1:
		folder = found[0]
	default:
		return "", nil, usageError("the workspace has several op packages (%s); choose one with --name",
			strings.Join(found, ", "))
	}
	text := strings.NewReplacer("clipImpl", op+"Impl", "Clip", op).Replace(hexmage.Op)
	s.files = append(s.files, newFile{folder + "/src/ops/" + op + ".cpp", text})
	if !slices.Contains(found, folder) {
		if err := oppackage.ValidateName(folder); err != nil {
			return "", nil, usageError("%w; choose another name with --name", err)
		}
		return folder, []string{`"@path@"`, quoted(folder) + "\npackage = " + quoted(folder)}, nil
	}
	if len(s.c.SDK) > 0 {
		return "", nil, usageError("--sdk is for a new pipeline, but op package %s already has a pipeline; omit --sdk",
			folder)
	}
	s.next = []string{"validate"}
	if name := nameOf(folder); workspace.Has(safepath.FS(s.a.Root), name) {
		s.next = []string{"plan " + name, "run " + name, "report"}
	}
	return "", nil, nil
}

// has returns a name for the user's file, and the template's words for its path: relative if it is in the workspace.
func (s *starter) has(given string) (name string, words []string, err error) {
	at := absolute(s.a.WorkDir, given)
	st, err := os.Stat(at)
	switch {
	case err != nil && s.c.Op != "":
		return "", nil, usageError("--op %s: no such folder; to create an op, use a name of letters, digits and _",
			given)
	case err != nil:
		return "", nil, usageError("%s: no such file or folder", given)
	}
	if s.c.Op != "" && !st.IsDir() {
		return "", nil, usageError(
			"--op %s is a file; name the folder of the op package, which has src/ or a Makefile", given)
	}
	if s.c.Op != "" {
		switch b := oppackage.FindBackend(os.DirFS(at)); {
		case b != nil && !b.Compiles:
			return "", nil, usageError("--op %s: %s", given, b)
		case b != nil:
			s.a.say("%s", b)
		}
	}
	name = filepath.Base(at)
	if !st.IsDir() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return nameOf(name), []string{`"@path@"`, quoted(s.inWorkspace(at))}, nil
}

// inWorkspace returns a path as a pipeline of the workspace writes it.
func (s *starter) inWorkspace(at string) string {
	if rel, ok := below(s.a.Root, at); ok {
		return rel
	}
	return filepath.ToSlash(at)
}

// quoted returns a string literal of HCL.
func quoted(text string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
}

// templateFor chooses the pipeline for a model by its files.
func templateFor(at string) (string, error) {
	if _, err := os.Stat(filepath.Join(at, "config.json")); err == nil {
		return "model", nil
	}
	switch strings.ToLower(filepath.Ext(at)) {
	case ".gguf":
		return "model", nil
	case ".onnx":
		return "onnx", nil
	}
	return "", usageError("--model %s: unknown model format; use a Hugging Face folder with config.json, or a .gguf "+
		"or .onnx file", at)
}

// graphWords returns the words of the template for an ONNX graph: its inputs, as samples have them. A graph that the
// compiler refuses is an error.
func graphWords(at string) ([]string, error) {
	d, err := inspect.Describe(at)
	if err == nil && d.ONNX == nil {
		err = fmt.Errorf("%s: not an ONNX model; run `hexmage inspect` to identify the file", at)
	}
	if err != nil {
		return nil, usageError("--model %w", err)
	}
	const most = 4 // listed inputs
	var arguments, shapes []string
	for _, in := range d.ONNX.Inputs {
		for i, dim := range in.Dims {
			if _, err := strconv.ParseUint(dim, 10, 63); err != nil {
				return nil, usageError("--model %s: dimension %[3]d of input %[2]s is %[4]s, but the NPU's compiler "+
					"needs fixed shapes. To fix the shape, run python3 -m onnxruntime.tools.make_dynamic_shape_fixed "+
					"--input_name %s --input_shape N,… %s fixed.onnx",
					at, in.Name, i, dim, action.Quote([]string{in.Name}), action.Quote([]string{at}))
			}
		}
		arguments = append(arguments, fmt.Sprintf("%q: array", in.Name))
		shapes = append(shapes, fmt.Sprintf("%s %s [%s]", in.Name, in.DType, strings.Join(in.Dims, "×")))
	}
	if len(shapes) > most {
		arguments = append(arguments[:most], "…")
		shapes = append(shapes[:most], fmt.Sprintf("and %d more", len(d.ONNX.Inputs)-most))
	}
	call := `numpy.savez("samples/0.npz", **{` + strings.Join(arguments, ", ") + "})"
	text := quoted("Folder of *.npz files with the graph's inputs by name, such as " + call +
		"; if it is not set, the graph is compiled but not run")
	return []string{`"@samples@"`, text, "@inputs@", strings.Join(strings.Fields(strings.Join(shapes, ", ")), " ")}, nil
}

// installed returns the SDK in a folder, and a block that makes profile device use it.
func (s *starter) installed(folder string) (sdk.SDK, string, error) {
	at := absolute(s.a.WorkDir, folder)
	is, err := sdk.Identify(at)
	if err != nil {
		return is, "", usageError("--sdk %w", err)
	}
	if is.Simulated {
		return is, "", usageError("--sdk %s is the simulated %s, which profile \"simulated\" uses anyway; omit --sdk",
			folder, is.Name)
	}
	t, r, _, err := s.catalog.ReleaseOf(is, at)
	if err != nil {
		return is, "", usageError("--sdk %w", err)
	}
	return is, fmt.Sprintf("\ntoolchain %q {\nversion = %s\npath = %s\n}\n", t.Name, quoted(r.Version),
		quoted(s.inWorkspace(at))), nil
}

// versionFile returns the file with an SDK's version.
func versionFile(is sdk.SDK) string {
	return map[string]string{"qairt": "sdk.yaml", "hexagon": "hexagon_sdk.json", "ndk": "source.properties"}[is.Name]
}

// fill replaces words in a template by the texts after them. It formats an HCL file as `hexmage fmt` does.
func fill(name string, words ...string) (string, error) {
	b, err := fs.ReadFile(templates, path.Join("templates", name))
	if err != nil {
		return "", engineError(err)
	}
	text := strings.NewReplacer(words...).Replace(string(b))
	if path.Ext(name) == ".hcl" {
		text = string(hclwrite.Format([]byte(text)))
	}
	return text, nil
}

// write writes the files unless one of them exists.
func (s *starter) write() error {
	places := make([]string, len(s.files))
	for i, f := range s.files {
		at, err := safepath.Resolve(s.a.Root, filepath.FromSlash(f.Path)) // rejects links out of the workspace
		if err != nil {
			return usageError("%w", err)
		}
		if _, err := os.Lstat(at.Path); err == nil {
			return s.there(f)
		}
		places[i] = at.Path
	}
	for i, f := range s.files {
		err := os.MkdirAll(filepath.Dir(places[i]), 0o755)
		if err == nil {
			err = create(places[i], f.Text)
		}
		switch {
		case errors.Is(err, fs.ErrExist):
			return s.there(f)
		case err != nil:
			return engineError(err)
		}
	}
	return nil
}

// there returns the error for an existing file.
func (s *starter) there(f newFile) error {
	hint := "use --print to print the new content"
	if s.pipeline != "" && strings.HasPrefix(f.Path, workspace.Folder+"/") {
		hint = "choose another --name, or use --print to print the new content"
	}
	return usageError("%s already exists and was not changed; %s",
		filepath.Join(s.a.Root, filepath.FromSlash(f.Path)), hint)
}

// create writes a new file.
func create(at, text string) error {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// say prints the written files and the next commands.
func (s *starter) say() error {
	call := "hexmage "
	if _, ok := below(s.a.Root, s.a.Env.Dir); !ok {
		dir := s.a.Root
		if rel, ok := below(s.a.Env.Dir, dir); ok {
			dir = rel
		}
		call += "-C " + action.Quote([]string{dir}) + " "
	}
	next := s.next
	switch {
	case next != nil:
	case s.c.CI != "":
		next = []string{"fmt --check", "validate"}
	default:
		next = []string{"compat --soc " + s.soc, "validate"}
	}
	for i := range next {
		next[i] = call + next[i]
	}
	var written []string
	for _, f := range s.files {
		written = append(written, f.Path)
	}
	return s.a.show(struct {
		Workspace string   `json:"workspace"`
		Written   []string `json:"written"`
		Next      []string `json:"next"`
	}{s.a.Root, written, next}, "wrote %s\n\nNext:\n  %s\n", strings.Join(written, "\nwrote "),
		strings.Join(next, "\n  "))
}
