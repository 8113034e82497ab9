// Package compiler is the simulated profile's ahead-of-time compiler: it takes the place, the flags and the messages of upstream's
// mllm-qwen3-aot-sha-c and its like for other architectures, and writes a context binary whose graphs the simulated profile's device runner executes.
//
// It checks what upstream's compiler overlooks (block sizes, layer counts, unknown names) and never reports success without a file.
// It does not schedule, tile or optimise anything, and does not know how a graph is run.
package compiler

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// The tools' names, which are those of upstream's programs, and their behaviour versions: raise them whenever an output changes. They take upstream's
// flags.
const (
	Qwen3 tool.Name[[]string] = "mllm-qwen3-aot-sha-c/3"
	Qwen2 tool.Name[[]string] = "mllm-qwen2-aot-c-sha/2"
	Llama tool.Name[[]string] = "mllm-llama-aot-c-sha/2"
)

// Tools are all of them.
func Tools() []tool.Name[[]string] { return []tool.Name[[]string]{Qwen3, Qwen2, Llama} }

// program is one of them.
type program struct {
	name, architecture string
	fixed              string // the file that it writes; "": the one that -o names
}

func newProgram(name string) program {
	return program{name, strings.Split(name, "-")[1], aotconfig.FixedOutput(name)}
}

// defaultEnv is upstream's fixed default for --qnn_env_path.
const defaultEnv = "/opt/qcom/aistack/qairt/2.41.0.251128/lib/x86_64-linux-clang/"

// aborted is the exit code of a program that called abort(), which is how upstream's ends on any error.
const aborted = 134

// maxAOTConfig bounds a config file, in bytes.
const maxAOTConfig = 1 << 20

type options struct{ model, config, aot, env, out string }

func (p program) usage() string {
	text := "usage: " + p.name + ` -m MODEL -c CONFIG -aot_cfg AOT_CONFIG [-qnn_env FOLDER/]
  -h, --help                  show this text
  -m, --model_path            quantised model, .mllm version 2
  -c, --config                model config json
  -aot_cfg, --aot_config      ahead-of-time config json: target machine and quantisation recipe
  -qnn_env, --qnn_env_path    folder of libQnnHtp.so, with a slash at its end (default ` + defaultEnv + `)
`
	if p.fixed != "" {
		return text + "It writes " + p.fixed + " into the folder that it runs in.\n"
	}
	return text + "  -o, --output_context_name   context binary to write; must be given\n"
}

// parse takes "flag value" pairs only, like upstream's parser: no "=", no positional arguments.
func (p program) parse(args []string) (o options, help bool, err error) {
	o.env, o.out = defaultEnv, p.fixed
	for i := 0; i < len(args); i++ {
		var to *string
		switch args[i] {
		case "-h", "--help":
			return o, true, nil
		case "-m", "--model_path":
			to = &o.model
		case "-c", "--config":
			to = &o.config
		case "-aot_cfg", "--aot_config":
			to = &o.aot
		case "-qnn_env", "--qnn_env_path":
			to = &o.env
		case "-o", "--output_context_name":
			if p.fixed == "" {
				to = &o.out
			}
		}
		if to == nil {
			return o, false, fmt.Errorf("unknown argument %q", args[i])
		}
		if i++; i == len(args) {
			return o, false, fmt.Errorf("%s needs a value", args[i-1])
		}
		*to = args[i]
	}
	for _, f := range []struct{ name, v string }{{"--model_path", o.model}, {"--config", o.config}, {"--aot_config", o.aot}, {"--output_context_name", o.out}} {
		if f.v == "" {
			return o, false, fmt.Errorf("%s is required", f.name)
		}
	}
	return o, false, nil
}

// New returns the process of one of the tools. It returns 0, or 134 on any error, as upstream's programs do.
func New(name tool.Name[[]string]) tool.Func { return newProgram(name.String()).run }

func (p program) run(ctx context.Context, args []string, env tool.Env) int {
	stdout, stderr := env.Stdout, env.Stderr
	o, help, err := p.parse(args)
	if help {
		fmt.Fprint(stdout, p.usage())
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "[ERROR] %v\n%s", err, p.usage())
		return aborted
	}
	if err := p.compile(ctx, o, stdout); err != nil {
		fmt.Fprintf(stderr, "[ERROR] %v\n", err)
		return aborted
	}
	return 0
}

func (p program) compile(ctx context.Context, o options, stdout io.Writer) error {
	c, err := toymodel.ReadConfig(o.config)
	if err != nil {
		return fmt.Errorf("model config: %w", err)
	}
	if is := c.Architecture(); is != p.architecture {
		return fmt.Errorf("model config: %s: model_type is %q; %s compiles %s", o.config, is, p.name, p.architecture)
	}
	raw, err := boundedfile.Read(o.aot, maxAOTConfig)
	if err != nil {
		return fmt.Errorf("ahead-of-time config: %w", err)
	}
	target, err := parseAOT(raw, c)
	if err != nil {
		return fmt.Errorf("%s: %w", o.aot, err)
	}
	b, err := openBackend(o.env)
	if err != nil {
		return err
	}
	id := b.buildID
	fmt.Fprintf(stdout, "QNN Backend Build Id: %s\n", id)
	fmt.Fprintln(stdout, "[WARN] couldn't open libcdsprpc.so") // as each of the vendor's tools says on a host: it has no DSP
	if err := b.takes(target); err != nil {
		return err
	}
	w, err := loadWeights(o.model, c)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "Preparing SHA parameters (slicing MHA weights)...")
	fmt.Fprintln(stdout, "SHA parameters prepared.")
	payload := payload(w)
	for _, n := range []int{32, 1} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fmt.Fprintf(stdout, "Tracing SHA model (seq=%d)...\n", n)
		g := graph(n)
		payload.Graphs = append(payload.Graphs, g)
		fmt.Fprintln(stdout, "SHA model traced successfully.")
		if err := p.dump(g, payload); err != nil {
			return err
		}
	}
	info := qnnctx.Info{BuildID: id, CoreAPI: qnnctx.Version{Major: 2, Minor: 31}, BackendAPI: qnnctx.Version{Major: 5, Minor: 41},
		BlobVersion: qnnctx.Version{Major: 3, Minor: 3}, SoCModel: target.soc, SoC: target.chipset, Arch: target.arch, VTCM: uint64(target.vtcmMB) << 20}
	n, err := save(o.out, info, payload)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "QNN context context.0 saved to %s written %d\n", o.out, n)
	fmt.Fprintln(stdout, "SHA compilation completed successfully!")
	fmt.Fprintln(stdout, "Output files:")
	for _, g := range payload.Graphs {
		fmt.Fprintf(stdout, "  - %s (IR dump for seq=%d)\n", p.dumped(g), g.Tokens)
	}
	fmt.Fprintf(stdout, "  - %s (QNN context)\n", o.out)
	return nil
}

// dumped is the file that upstream's compiler writes of a graph, whatever its flags, into the folder that it runs in.
func (p program) dumped(g blob.Graph) string {
	return fmt.Sprintf("%s_qnn_aot_sha_%d.mir", p.architecture, g.Tokens)
}

// dump writes that file: what is in it is not upstream's.
func (p program) dump(g blob.Graph, b *blob.Blob) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s, in place of mllm's dump of %s\n", qnn.Simulated, g.Name)
	for _, n := range b.Norms {
		fmt.Fprintf(&text, "RMSNorm %s\n", n.Name)
	}
	return os.WriteFile(p.dumped(g), text.Bytes(), 0o644)
}

func loadWeights(path string, c toymodel.Config) (*toymodel.Weights, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := mllm.Parse(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Version != mllm.V2 {
		return nil, fmt.Errorf("%s: .mllm version %d; the compiler reads version 2, convert with format = \"v2\"", path, m.Version)
	}
	w, err := toymodel.LoadWeights(m, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// save makes no folder, as upstream's makes none. Where it cannot write, upstream's says so and ends with 0, as if it had.
func save(path string, info qnnctx.Info, payload *blob.Blob) (int, error) {
	var b bytes.Buffer
	if err := blob.Write(&b, info, payload); err != nil {
		return 0, err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return 0, fmt.Errorf("%s: Failed to open file for writing QNN context: %w", path, err)
	}
	return b.Len(), nil
}

// maxBackend bounds libQnnHtp.so, in bytes; the vendor's have some megabytes.
const maxBackend = 64 << 20

// signedPD is QNN's number of the option that asks for a signed protection domain.
const signedPD = 2

// backend is what the library of a QNN release says of itself.
type backend struct {
	buildID       string
	socs, options []int // the numbers it knows; nil: it does not say
}

// openBackend concatenates as upstream does, but says what a missing slash does.
func openBackend(env string) (backend, error) {
	path := env + "libQnnHtp.so"
	raw, err := boundedfile.Read(path, maxBackend)
	if err != nil {
		hint := ""
		if os.IsNotExist(err) && !strings.HasSuffix(env, "/") {
			hint = "; --qnn_env_path must end in a slash"
		}
		// "Failed to open QNN libs" is upstream's message, which log rules look for.
		return backend{}, fmt.Errorf("%s: Failed to open QNN libs: %w%s", path, err, hint)
	}
	id, err := buildid.Only(bytes.NewReader(raw))
	if err != nil {
		return backend{}, fmt.Errorf("%s: %w; is it the library of an SDK?", path, err)
	}
	return backend{id, numbers(raw, "open_socs="), numbers(raw, "open_device_options=")}, nil
}

// numbers reads "key1,2,3;", as the simulation's libraries list what they know.
func numbers(raw []byte, key string) []int {
	_, rest, ok := bytes.Cut(raw, []byte(key))
	list, _, ended := bytes.Cut(rest, []byte(";"))
	if !ok || !ended {
		return nil
	}
	var all []int
	for s := range strings.SplitSeq(string(list), ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// takes makes the device that the config describes, as far as a host can; the errors are in the words of the vendor's libraries.
func (b backend) takes(a aim) error {
	if b.socs != nil && !slices.Contains(b.socs, int(a.soc)) {
		return fmt.Errorf("make the device: Dsp startup: SoC model (SnapdragonModel) is unknown: %s is %d, which QNN %s does not know", a.chipset, a.soc, b.buildID)
	}
	if a.signed && b.options != nil && !slices.Contains(b.options, signedPD) {
		return fmt.Errorf("make the device: Unsupported config option %d: QNN %s takes no signed protection domain, which htp_security_pd_session asks for", signedPD, b.buildID)
	}
	return nil
}
