// Package compiler is the ahead-of-time compiler of profile simulated. It has the flags and messages of mllm's
// compilers, such as mllm-qwen3-aot-sha-c, and writes a context binary for the simulated runner. It checks that the QNN
// library supports the target. It does not know how a graph runs.
package compiler

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Names and behavior versions of the tools. mllm's programs have the same names and flags. Raise a version whenever the
// tool's output changes.
const (
	Qwen3 tool.Name[[]string] = "mllm-qwen3-aot-sha-c/5"
	Qwen2 tool.Name[[]string] = "mllm-qwen2-aot-c-sha/4"
	Llama tool.Name[[]string] = "mllm-llama-aot-c-sha/4"
)

// Tools returns the names of all simulated compilers.
func Tools() []tool.Name[[]string] { return []tool.Name[[]string]{Qwen3, Qwen2, Llama} }

// aborted is the exit code of a program that called abort(), as mllm's compilers do on any error.
const aborted = 134

// maxConfig and maxBackend bound a config file and libQnnHtp.so, in bytes. Qualcomm's library has some megabytes.
const (
	maxConfig  = 1 << 20
	maxBackend = 64 << 20
)

// program is one of the tools.
type program struct {
	model, config, aot, env, out string
	architecture                 string
	stdout                       io.Writer
}

// New returns the function that runs a simulated compiler.
func New(name tool.Name[[]string]) tool.Func {
	return func(_ context.Context, args []string, env tool.Env) int {
		p := program{architecture: strings.Split(name.String(), "-")[1], out: aotconfig.FixedOutput(name.String()),
			stdout: env.Stdout}
		flags := flag.NewFlagSet(name.String(), flag.ContinueOnError)
		flags.SetOutput(env.Stderr)
		add := func(to *string, usage string, names ...string) {
			for _, name := range names {
				flags.StringVar(to, name, *to, usage)
			}
		}
		add(&p.model, "the toy model, .mllm version 2", "m", "model_path")
		add(&p.config, "its config.json", "c", "config")
		add(&p.aot, "config of the compiler", "aot_cfg", "aot_config")
		add(&p.env, "folder of libQnnHtp.so, with a slash at its end", "qnn_env", "qnn_env_path")
		if p.out == "" {
			add(&p.out, "context binary to write", "o", "output_context_name")
		}
		err := flags.Parse(args)
		if err == nil {
			err = p.compile()
		}
		if err != nil {
			fmt.Fprintf(env.Stderr, "[ERROR] %v\n", err)
			return aborted
		}
		return 0
	}
}

func (p program) compile() error {
	raw, err := boundedfile.Read(p.aot, maxConfig)
	if err != nil {
		return err
	}
	aot, err := parseConfig(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", p.aot, err)
	}
	library, err := p.library()
	if err != nil {
		return err
	}
	id, err := buildid.Only(bytes.NewReader(library))
	if err != nil {
		return fmt.Errorf("%slibQnnHtp.so: %w", p.env, err)
	}
	fmt.Fprintf(p.stdout, "QNN Backend Build Id: %s\n", id)
	// Qualcomm's tools print this on a host, which has no DSP.
	fmt.Fprintln(p.stdout, "[WARN] couldn't open libcdsprpc.so")
	soc := aotconfig.SoCModels()[aot.Machine.Chipset]
	if err := knows(library, aot.Machine, int(soc)); err != nil {
		return err
	}
	m, err := toymodel.Load(p.model, p.config)
	if err != nil {
		return err
	}
	if m.Architecture != p.architecture || m.Layers != aot.Recipe.Layers {
		return fmt.Errorf("%s: the model is %s with %d layers, expected %s with %d layers", p.config, m.Architecture,
			m.Layers, p.architecture, aot.Recipe.Layers)
	}
	arch, err := strconv.ParseUint(strings.TrimPrefix(aot.Machine.Arch, "V"), 10, 32)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "Preparing SHA parameters (slicing MHA weights)...")
	fmt.Fprintln(p.stdout, "SHA parameters prepared.")
	b := blob.Blob{Vocab: uint32(m.Vocab), Hidden: uint32(m.Hidden), Layers: uint32(m.Layers),
		Context: uint32(m.Positions), OpPackage: "LLaMAPackage", Embedding: m.Embedding, Norms: m.Norms}
	dumps := "Output files:\n"
	for _, n := range []uint32{32, 1} {
		fmt.Fprintf(p.stdout, "Tracing SHA model (seq=%d)...\n", n)
		b.Graphs = append(b.Graphs, blob.Graph{Name: fmt.Sprintf("model.0.s%d", n), Tokens: n})
		// mllm's compilers always write these files into their working directory.
		dump := fmt.Sprintf("%s_qnn_aot_sha_%d.mir", p.architecture, n)
		if err := os.WriteFile(dump, []byte(qnn.Simulated+"\n"), 0o644); err != nil {
			return err
		}
		dumps += fmt.Sprintf("  - %s (IR dump for seq=%d)\n", dump, n)
		fmt.Fprintln(p.stdout, "SHA model traced successfully.")
	}
	var out bytes.Buffer
	err = blob.Write(&out, qnnctx.Info{BuildID: id, CoreAPI: qnnctx.Version{Major: 2, Minor: 31},
		BackendAPI: qnnctx.Version{Major: 5, Minor: 41}, BlobVersion: qnnctx.Version{Major: 3, Minor: 3},
		SoCModel: soc, SoC: aot.Machine.Chipset, Arch: uint32(arch), VTCM: uint64(aot.Machine.VTCM) << 20}, &b)
	if err == nil {
		err = os.WriteFile(p.out, out.Bytes(), 0o644)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "QNN context context.0 saved to %s written %d\n", p.out, out.Len())
	fmt.Fprintf(p.stdout, "SHA compilation completed successfully!\n%s  - %s (QNN context)\n", dumps, p.out)
	return nil
}

// parseConfig reads the compiler's config. For an unknown key, it returns the error text of QNN's own tools.
func parseConfig(raw []byte) (aotconfig.Config, error) {
	c, err := aotconfig.Parse(raw)
	if err != nil {
		return c, err
	}
	var keys struct {
		Machine map[string]json.RawMessage `json:"target_machine"`
	}
	if err := json.Unmarshal(raw, &keys); err != nil {
		return c, err
	}
	for k := range keys.Machine {
		if !slices.Contains(aotconfig.MachineKeys(), k) {
			return c, fmt.Errorf("schema: Invalid key: target_machine/%s", k)
		}
	}
	return c, nil
}

// library reads libQnnHtp.so. Like mllm's compilers it joins folder and name.
func (p program) library() ([]byte, error) {
	raw, err := boundedfile.Read(p.env+"libQnnHtp.so", maxBackend)
	if err != nil {
		// "Failed to open QNN libs" is mllm's message, which the failure catalog looks for.
		return nil, fmt.Errorf("%slibQnnHtp.so: Failed to open QNN libs; --qnn_env_path must end in a slash", p.env)
	}
	return raw, nil
}

// knows checks that the simulated library of QNN knows the config's values. The errors have the text of Qualcomm's
// libraries.
func knows(library []byte, m aotconfig.Machine, soc int) error {
	const signedPD = "2" // QNN's number of the option for a signed protection domain
	if !listed(library, "open_socs=", strconv.Itoa(soc)) {
		return fmt.Errorf("make the device: Dsp startup: SoC model (SnapdragonModel) is unknown (%s, soc_model %d)",
			m.Chipset, soc)
	}
	if m.Signed() && !listed(library, "open_device_options=", signedPD) {
		return fmt.Errorf("make the device: Unsupported config option %s", signedPD)
	}
	return nil
}

// listed looks for an item in "key1,2,3;", which simulated libraries have. In other libraries it finds every item.
func listed(library []byte, key, item string) bool {
	_, list, ok := bytes.Cut(library, []byte(key))
	list, _, _ = bytes.Cut(list, []byte(";"))
	return !ok || slices.Contains(strings.Split(string(list), ","), item)
}
