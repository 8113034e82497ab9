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
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains"
)

// templates are what init writes, with @WORDS@ in the place of what the user has.
//
//go:embed templates
var templates embed.FS

// initCmd is `hexmage init [DIR]`.
type initCmd struct {
	In       string   `arg:"" optional:"" name:"dir" help:"The workspace, which is made if it is not there. Default: the one that this folder is in, else this folder."`
	Op       string   `placeholder:"FOLDER" help:"Folder of an op package, or the name of a new op."`
	Model    string   `placeholder:"PATH" help:"A language model, as a Hugging Face folder or a GGUF; or an .onnx file."`
	SDK      []string `name:"sdk" placeholder:"FOLDER" help:"An SDK that is installed: QAIRT, the Hexagon SDK or the NDK. May be repeated, and goes with --op."`
	Lab      bool     `help:"Phones, and a program to measure on them."`
	CI       string   `name:"ci" placeholder:"HOST" enum:",github,gitlab" default:"" help:"Also write what has github or gitlab run the workspace's pipelines."`
	Name     string   `placeholder:"NAME" help:"Name of the pipeline. Default: that of what you have."`
	Arch     string   `placeholder:"ARCH" help:"Of a --soc that is in no catalogue: its Hexagon, such as v81. With it and --soc-model a block soc is written."`
	SoCModel int      `name:"soc-model" placeholder:"N" help:"Of such a SoC: QNN's number of it."`
	VTCM     int      `name:"vtcm" placeholder:"MB" help:"Of such a SoC: its VTCM, if it is known."`
	Print    bool     `help:"Write to standard output, and no file."`
}

// Help has the examples of `hexmage init --help`.
func (*initCmd) Help() string {
	return `It writes a short pipeline of your own, which runs at once, and says how. No file that is there is touched.
Flags say what you have; without any, it writes a small example.

Examples:

    hexmage init                                       you have nothing yet
    hexmage init --op Scale                            starts an op, in the workspace's op package or in a new one
    hexmage init --op LLaMAPackage --soc SM8650        compiles the op package in that folder
    hexmage init --op LLaMAPackage --sdk $QAIRT_SDK_ROOT
    hexmage init --model Qwen3-0.6B                    a Hugging Face folder, on Qualcomm's emulator
    hexmage init --model net.onnx --print              prints the files that it would write
    hexmage init --lab bench --ci gitlab               in the folder bench: measures a program on phones, in GitLab's CI
    hexmage init --soc SM9950 --arch v81 --soc-model 113   a SoC that hexmage does not know`
}

// newFile is a file that init writes, with its slash path in the workspace.
type newFile struct{ Path, Text string }

// Run writes a pipeline, and what belongs to it.
func (c *initCmd) Run(_ context.Context, a *app) error {
	root := a.here()
	if c.In != "" {
		root = absolute(a.WorkDir, c.In)
	}
	if st, err := os.Stat(root); err == nil && !st.IsDir() {
		return usageError("%s is a file: name a folder for the workspace", c.In)
	}
	soc, err := a.oneSoC("")
	if err != nil {
		return err
	}
	w := &starter{c: c, a: a, root: root, soc: cmp.Or(soc, defaultSoC)}
	if err := w.collect(); err != nil {
		return err
	}
	if c.Print {
		for _, f := range w.files {
			if len(w.files) > 1 {
				fmt.Fprintf(a.Env.Stdout, "# %s\n\n", f.Path)
			}
			fmt.Fprint(a.Env.Stdout, f.Text)
		}
		return nil
	}
	if err := w.write(); err != nil {
		return err
	}
	return w.say()
}

// pipeline tells whether a flag says of what a pipeline is to be.
func (c *initCmd) pipeline() bool {
	return c.Op != "" || c.Model != "" || len(c.SDK) > 0 || c.Lab || c.Name != ""
}

const defaultSoC = "SM8750"

// starter has what init is about to write.
type starter struct {
	c         *initCmd
	a         *app
	root      string // the workspace
	soc       string
	catalogue *toolchains.Catalogue
	pipeline  string   // its name; "" if none is written
	next      []string // commands after init, without "hexmage"
	files     []newFile
}

// collect puts together what is to be written.
func (s *starter) collect() error {
	d, err := s.a.domain(s.root)
	if err != nil {
		return err
	}
	s.catalogue = d.catalogue()
	if err := s.target(); err != nil {
		return err
	}
	own := names(rooted.FS(s.root))
	// else one has pipelines, and wants what goes with them
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

// target looks the SoC up, and writes a block for one that no catalogue has.
func (s *starter) target() error {
	known, err := s.catalogue.FindSoC(s.soc)
	switch own := s.c.Arch != "" || s.c.SoCModel != 0; {
	case err == nil && own:
		return usageError("--arch and --soc-model are for a SoC that is not known, and %s is: Hexagon %s, "+
			"soc_model %d", known.Name, known.Arch, known.SoCModel)
	case err == nil:
		s.soc = known.Name
		return nil
	case !own:
		return usageError("%w", err) // which names --arch and --soc-model
	case s.c.Arch == "" || s.c.SoCModel <= 0:
		return usageError("a SoC that is not known needs both --arch, such as v81, and --soc-model, " +
			"QNN's number of it, which `hexmage device info` of a connected phone prints")
	case s.catalogue.FindArch(s.c.Arch) == nil:
		return usageError("--arch %s: no such Hexagon is known; docs/catalogue.md says how to add one", s.c.Arch)
	case !named(s.soc):
		return usageError("--soc %s: a SoC's name has letters and digits", s.soc)
	}
	text, err := fill("soc.hcl", "@soc@", s.soc, "@arch@", s.c.Arch, "@model@", strconv.Itoa(s.c.SoCModel), "@vtcm@",
		strconv.Itoa(s.c.VTCM))
	s.files = append(s.files, newFile{"toolchains/" + s.soc + ".hcl", text})
	return err
}

// named tells whether a text is a name of letters, digits, - and _.
func named(text string) bool { return text != "" && text == nameOf(text) }

// nameOf makes such a name of a text.
func nameOf(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '-'
	}, text), "-")
}

// start chooses the pipeline by what the user has, and names it.
func (s *starter) start() error {
	c := s.c
	what := 0
	for _, has := range []bool{c.Op != "", c.Model != "", c.Lab, len(c.SDK) > 0 && c.Op == ""} {
		if has {
			what++
		}
	}
	if what > 1 {
		return usageError("give one of --op, --model, --lab and --sdk: each is a pipeline, and hexmage init can be " +
			"run for each. Only --sdk goes with --op")
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
	case s.catalogue.Upstream[s.soc] == 0: // mllm's compiler does not know it
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
		return usageError("%q is no name for a pipeline: give --name, of letters, digits, - and _", name)
	case workspace.Has(hexmage.Shipped, name):
		return usageError("hexmage has a pipeline %s, which one of yours would hide: give --name", name)
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

// hasSimulation tells whether the simulation has the release.
func hasSimulation(r *toolchains.Release) bool { return r.Source("embedded") != nil }

// versions are the words of a template that stand for releases: those that suit the SoC, of which there are
// simulations.
func (s *starter) versions(template string) ([]string, error) {
	preferred := ""
	if template == "hexagon" {
		preferred = "2.42.0.251225" // the first with v81, which new SoCs have
	}
	qairt, err := s.release("qairt", preferred, hasSimulation)
	if err != nil {
		return nil, err
	}
	hexagon, err := s.release("hexagon", "", hasSimulation)
	return []string{"@qairt@", qairt, "@hexagon@", hexagon}, err
}

// forDevice returns a toolchain block for profile device if a QAIRT suits the SoC better than each simulated one. It
// returns "" otherwise, and for a profile with a block of its own.
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
	t, r, err := s.catalogue.Find(name, preferred)
	if err != nil {
		return "", engineError(err)
	}
	target := &qnn.Target{SoC: s.soc, Arch: s.c.Arch, SoCModel: s.c.SoCModel, VTCMMB: s.c.VTCM}
	if known, err := s.catalogue.FindSoC(s.soc); err == nil {
		target = known.Target()
	}
	best, diags := s.catalogue.Best(name, target, r.Version, func(x *qnn.Release) bool {
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
// it adds. The name is "" for an op that goes to an op package of the workspace.
func (s *starter) op() (name string, words []string, err error) {
	op, folder := s.c.Op, s.c.Name
	if _, err := os.Stat(absolute(s.a.WorkDir, op)); err == nil || oppackage.ValidateName(op) != nil {
		return s.has(op)
	}
	found, err := fs.Glob(rooted.FS(s.root), "*/src/ops")
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
		return "", nil, usageError("there are several op packages: choose one of %s with --name",
			strings.Join(found, ", "))
	}
	text := strings.NewReplacer("clipImpl", op+"Impl", "Clip", op).Replace(hexmage.Op)
	s.files = append(s.files, newFile{folder + "/src/ops/" + op + ".cpp", text})
	if !slices.Contains(found, folder) {
		if err := oppackage.ValidateName(folder); err != nil {
			return "", nil, usageError("%w: give another --name", err)
		}
		return folder, []string{`"@path@"`, quoted(folder) + "\npackage = " + quoted(folder)}, nil
	}
	if len(s.c.SDK) > 0 {
		return "", nil, usageError("--sdk is for a new pipeline, and the op package %s has one", folder)
	}
	s.next = []string{"validate"}
	if name := nameOf(folder); workspace.Has(rooted.FS(s.root), name) {
		s.next = []string{"plan " + name, "run " + name, "report"}
	}
	return "", nil, nil
}

// has returns a name for what the user has, and what stands for its path in templates: relative to the workspace
// where it is in that.
func (s *starter) has(given string) (name string, words []string, err error) {
	at := absolute(s.a.WorkDir, given)
	st, err := os.Stat(at)
	switch {
	case err != nil && s.c.Op != "":
		return "", nil, usageError("--op %s: no such folder, and the name of a new op has letters, digits and _", given)
	case err != nil:
		return "", nil, usageError("%s: no such file or folder", given)
	}
	if s.c.Op != "" && !st.IsDir() {
		return "", nil, usageError(
			"--op %s is a file: name the folder of the op package, which has src/ or a Makefile", given)
	}
	if s.c.Op != "" {
		switch b := oppackage.FindBackend(os.DirFS(at)); {
		case b != nil && !b.Compiles:
			return "", nil, usageError("--op %s: %s", given, b)
		case b != nil:
			fmt.Fprintf(s.a.Env.Stderr, "note: %s\n", b)
		}
	}
	name = filepath.Base(at)
	if !st.IsDir() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return nameOf(name), []string{`"@path@"`, quoted(s.inWorkspace(at))}, nil
}

// inWorkspace is a path as a pipeline of the workspace names it.
func (s *starter) inWorkspace(at string) string {
	if rel, err := filepath.Rel(s.root, at); err == nil && filepath.IsLocal(rel) {
		at = rel
	}
	return filepath.ToSlash(at)
}

// quoted is a string of the language.
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
	return "", usageError("--model %s: unknown kind of model; use a Hugging Face folder with a config.json, or a "+
		".gguf or .onnx file. `hexmage inspect` describes a file", at)
}

// graphWords returns the words of the template for an ONNX graph: its inputs, as samples have them. A graph that the
// compiler refuses is an error.
func graphWords(at string) ([]string, error) {
	d, err := inspect.Describe(at)
	if err == nil && d.ONNX == nil {
		err = fmt.Errorf("%s: not an ONNX model; `hexmage inspect` describes it", at)
	}
	if err != nil {
		return nil, usageError("--model %w", err)
	}
	const most = 4 // inputs that are listed
	var arguments, shapes []string
	for _, in := range d.ONNX.Inputs {
		for i, dim := range in.Dims {
			if _, err := strconv.ParseUint(dim, 10, 63); err != nil {
				return nil, usageError("--model %s: input %s has no fixed shape: dimension %d is %s, and the NPU's "+
					"compiler takes static graphs. Fix it, with onnxruntime in Python: "+
					"python3 -m onnxruntime.tools.make_dynamic_shape_fixed --input_name %s --input_shape N,… %s "+
					"fixed.onnx", at, in.Name, i, dim, action.Quote([]string{in.Name}), action.Quote([]string{at}))
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
		"; without it the graph is compiled as it is, and does not run")
	return []string{`"@samples@"`, text, "@inputs@", strings.Join(strings.Fields(strings.Join(shapes, ", ")), " ")}, nil
}

// installed says what SDK is in a folder, with the block that has profile device take it.
func (s *starter) installed(folder string) (sdk.SDK, string, error) {
	at := absolute(s.a.WorkDir, folder)
	is, err := sdk.Identify(at)
	if err != nil {
		return is, "", usageError("--sdk %w", err)
	}
	if is.Simulated {
		return is, "", usageError("--sdk %s is the simulated %s, which profile simulated has anyway", folder, is.Name)
	}
	t, r, _, err := s.catalogue.ReleaseOf(is, at)
	if err != nil {
		return is, "", usageError("--sdk %w", err)
	}
	return is, fmt.Sprintf("\ntoolchain %q {\nversion = %s\npath = %s\n}\n", t.Name, quoted(r.Version),
		quoted(s.inWorkspace(at))), nil
}

// versionFile is the file in which an SDK says what it is.
func versionFile(is sdk.SDK) string {
	return map[string]string{"qairt": "sdk.yaml", "hexagon": "hexagon_sdk.json", "ndk": "source.properties"}[is.Name]
}

// fill is a template with texts in the place of words, each before its text; one in the language is laid out as
// `hexmage fmt` does it.
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

// write writes the files, if none of them is there.
func (s *starter) write() error {
	places := make([]string, len(s.files))
	for i, f := range s.files {
		at, err := rooted.Resolve(s.root, filepath.FromSlash(f.Path)) // no link leads out of the workspace
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

// there is the error for a file that is there.
func (s *starter) there(f newFile) error {
	hint := "--print shows what would be in it"
	if s.pipeline != "" && strings.HasPrefix(f.Path, workspace.Folder+"/") {
		hint = "give the pipeline another --name, or see with --print what would be in it"
	}
	return usageError("%s is there already, and is left as it is: %s",
		filepath.Join(s.root, filepath.FromSlash(f.Path)), hint)
}

// create writes a file that is not there.
func create(at, text string) error {
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// say says what was written, and the next commands.
func (s *starter) say() error {
	call := "hexmage "
	if rel, err := filepath.Rel(s.root, s.a.Env.Dir); err != nil || !filepath.IsLocal(rel) {
		dir := s.root
		if rel, err := filepath.Rel(s.a.Env.Dir, dir); err == nil && filepath.IsLocal(rel) {
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
	if s.a.JSON {
		return s.a.printJSON(struct {
			Workspace string   `json:"workspace"`
			Written   []string `json:"written"`
			Next      []string `json:"next"`
		}{s.root, written, next})
	}
	for _, f := range written {
		fmt.Fprintf(s.a.Env.Stdout, "wrote %s\n", f)
	}
	fmt.Fprintf(s.a.Env.Stdout, "\nNext:\n  %s\n", strings.Join(next, "\n  "))
	return nil
}
