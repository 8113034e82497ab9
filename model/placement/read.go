package placement

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/model/pte"
	"github.com/hexmage/hexmage/model/tflite"
)

// What compilers leave beside a compiled model.
const (
	placedFile  = "placed.json"  // of htp_context: graphs
	refusedFile = "refused.json" // of litert_context: what LiteRT's plug-in says of operations that it does not take
)

// Bounds of what is read.
const (
	maxDocument = 256 << 20 // bytes
	maxNodes    = 1 << 20
)

// Read returns the graphs of what was compiled: the folder of htp_context or litert_context, a compiled .tflite, or a .pte.
func Read(at string) ([]Graph, error) {
	st, err := os.Stat(at)
	if err != nil {
		return nil, err
	}
	var graphs []Graph
	switch name := filepath.Base(at); {
	case st.IsDir():
		graphs, err = folder(at)
	case strings.HasSuffix(name, ".pte"):
		graphs, err = readPTE(at)
	case strings.HasSuffix(name, ".tflite"):
		graphs, err = readTFLite(at, nil)
	default:
		err = fmt.Errorf("it is neither a .pte, nor a compiled .tflite, nor a folder of htp_context or litert_context; of an ONNX graph give what htp_context made of it")
	}
	if err == nil && len(graphs) == 0 {
		err = errors.New("there is no graph in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(at), err)
	}
	return graphs, nil
}

func folder(at string) ([]Graph, error) {
	raw, err := boundedfile.Read(filepath.Join(at, placedFile), maxDocument)
	if err == nil {
		return Parse(raw)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	models, err := filepath.Glob(filepath.Join(at, "*.tflite"))
	if err != nil {
		return nil, err
	}
	if len(models) != 1 {
		return nil, fmt.Errorf("it has no %s, as htp_context leaves one, and %d files *.tflite, where litert_context leaves one", placedFile, len(models))
	}
	var refused []Refused
	if raw, err = boundedfile.Read(filepath.Join(at, refusedFile), maxDocument); err == nil {
		err = json.Unmarshal(raw, &refused)
	}
	if err != nil {
		return nil, err
	}
	return readTFLite(models[0], refused)
}

// Parse reads the graphs of a placed.json.
func Parse(raw []byte) ([]Graph, error) {
	var graphs []Graph
	if err := json.Unmarshal(raw, &graphs); err != nil {
		return nil, err
	}
	nodes := 0
	for _, g := range graphs {
		if nodes += len(g.CPU) + len(g.Parts); nodes > maxNodes {
			return nil, fmt.Errorf("more than %d nodes", maxNodes)
		}
	}
	return graphs, nil
}

// Refused is an operation that LiteRT's plug-in does not take.
type Refused struct {
	Index int    `json:"index"` // of the graph's operations
	Op    string `json:"op"`    // as the plug-in calls it: "Atan2"
	Why   string `json:"why"`
}

// dispatch is the custom operation that stands for what a plug-in of LiteRT has compiled.
const dispatch = "DISPATCH_OP"

func readTFLite(at string, refused []Refused) ([]Graph, error) {
	f, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := tflite.Parse(f, st.Size())
	if err != nil {
		return nil, err
	}
	return OfTFLite(m, refused), nil
}

// OfTFLite returns the graphs of a compiled model that are run. refused are the operations that were not taken, in their order.
func OfTFLite(m *tflite.Model, refused []Refused) []Graph {
	var graphs []Graph
	for i, from := range m.Graphs {
		g := Graph{Name: from.Name, Format: "tflite", Tensors: map[string]Tensor{}}
		if g.Name == "" {
			g.Name = "graph " + strconv.Itoa(i)
		}
		named := func(list []int) []string { // a tensor's number tells it from others of its name
			names := []string{}
			for _, i := range list {
				t := from.Tensors[i]
				name := strconv.Itoa(i) + " " + t.Name
				g.Tensors[name] = Tensor{t.Type, t.Shape, t.Constant}
				names = append(names, name)
			}
			return names
		}
		g.Inputs, g.Outputs = named(from.Inputs), named(from.Outputs)
		for n, op := range from.Ops {
			in, out := named(op.Inputs), named(op.Outputs)
			if op.Custom && op.Name == dispatch {
				g.Parts = append(g.Parts, Part{Inputs: in, Outputs: out})
				continue
			}
			node := Node{Name: fmt.Sprintf("#%d", n), Op: op.Name, Inputs: in, Outputs: out}
			if len(op.Outputs) > 0 {
				node.Name = from.Tensors[op.Outputs[0]].Name
			}
			if k := slices.IndexFunc(refused, func(r Refused) bool { return plain(r.Op) == plain(op.Name) }); k >= 0 {
				node.Why, refused = refused[k].Why, slices.Delete(slices.Clone(refused), k, k+1)
			}
			g.CPU = append(g.CPU, node)
		}
		graphs = append(graphs, g)
	}
	return graphs
}

// plain makes one name of ATAN2 and Atan2, of CONV_2D and Conv2d.
func plain(op string) string { return strings.ReplaceAll(strings.ToLower(op), "_", "") }

func readPTE(at string) ([]Graph, error) {
	f, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := pte.Parse(f, st.Size())
	if err != nil {
		return nil, err
	}
	return OfPTE(p), nil
}

// npuDelegate is ExecuTorch's name of the backend for the NPU.
const npuDelegate = "QnnBackend"

// OfPTE returns a program's methods as graphs. A call's arguments are inputs and outputs alike: an output is a tensor that nothing before has written. What
// another backend runs counts as one node on the CPU.
func OfPTE(p *pte.Program) []Graph {
	var graphs []Graph
	for _, m := range p.Methods {
		g := Graph{Name: m.Name, Format: "aten", Tensors: map[string]Tensor{}}
		written := map[int]bool{}
		name := func(i int) string {
			text := "value " + strconv.Itoa(i)
			g.Tensors[text] = Tensor{m.Values[i].Type, m.Values[i].Shape, m.Values[i].Constant}
			return text
		}
		for i, v := range m.Values {
			written[i] = v.Constant
		}
		for _, i := range m.Inputs {
			written[i] = true
			g.Inputs = append(g.Inputs, name(i))
		}
		for n, c := range m.Calls {
			var in, out []string
			for _, i := range tensors(m, c.Args) {
				if written[i] {
					in = append(in, name(i))
				} else {
					out = append(out, name(i))
					written[i] = true
				}
			}
			if c.Delegate >= 0 && m.Delegates[c.Delegate] == npuDelegate {
				g.Parts = append(g.Parts, Part{Inputs: in, Outputs: out})
				continue
			}
			node := Node{Name: "call " + strconv.Itoa(n), Inputs: in, Outputs: out}
			if c.Delegate >= 0 {
				node.Op = m.Delegates[c.Delegate]
			} else {
				node.Op = m.Operators[c.Operator].String()
			}
			g.CPU = append(g.CPU, node)
		}
		for _, i := range m.Outputs {
			g.Outputs = append(g.Outputs, name(i))
		}
		graphs = append(graphs, g)
	}
	return graphs
}

// tensors are those among a call's arguments, and in lists among them, each once.
func tensors(m pte.Method, args []int) []int {
	var found []int
	seen := map[int]bool{}
	add := func(i int) {
		if m.Values[i].Type != "" && !seen[i] {
			seen[i] = true
			found = append(found, i)
		}
	}
	for _, i := range args {
		add(i)
		for _, k := range m.Values[i].List {
			add(k)
		}
	}
	return found
}
