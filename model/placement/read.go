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
)

// placedFile is what htp_context leaves beside its contexts: the graphs.
const placedFile = "placed.json"

// Bounds of what is read.
const (
	maxDocument = 256 << 20 // bytes
	maxRank     = 64
	maxNodes    = 1 << 20 // and, of a .pte, what they name
)

// room is what may still be taken of a file: its lists may be one place of it, and so add up to any size.
type room int

func (r *room) take(n int) error {
	if *r -= room(n); *r < 0 {
		return fmt.Errorf("its operations and what they name are more than %d", maxNodes)
	}
	return nil
}

// Read returns the graphs of what was compiled: the folder of htp_context, or a .pte.
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
	default:
		err = fmt.Errorf("it is neither a .pte nor a folder of htp_context; of an ONNX graph give what htp_context made of it")
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it has no %s, as htp_context leaves one", placedFile)
	}
	if err != nil {
		return nil, err
	}
	return Parse(raw)
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
		for name, t := range g.Tensors {
			if len(t.Shape) > maxRank {
				return nil, fmt.Errorf("tensor %q has %d dimensions, %d at most are read", cut(name, maxName), len(t.Shape), maxRank)
			}
		}
	}
	return graphs, nil
}

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
	return OfPTE(p)
}

// npuDelegate is ExecuTorch's name of the backend for the NPU.
const npuDelegate = "QnnBackend"

// OfPTE returns a program's methods as graphs. What another backend runs counts as one node on the CPU. A call's arguments are inputs and outputs alike, and
// which is which is a guess: see ends. What is read and nothing before has written is a state, such as a cache, and counts as given.
func OfPTE(p *pte.Program) ([]Graph, error) {
	left := room(maxNodes)
	var graphs []Graph
	for _, m := range p.Methods {
		g := Graph{Name: m.Name, Format: "aten", Tensors: map[string]Tensor{}}
		name := func(i int) string {
			text := "value " + strconv.Itoa(i)
			g.Tensors[text] = Tensor{m.Values[i].Type, m.Values[i].Shape, m.Values[i].Constant}
			return text
		}
		names := func(list []int) (of []string) {
			for _, i := range list {
				of = append(of, name(i))
			}
			return of
		}
		ops := make([]string, len(m.Operators))
		for i, o := range m.Operators {
			ops[i] = o.String()
		}
		written := map[int]bool{}
		for i, v := range m.Values {
			written[i] = v.Constant
		}
		for _, i := range m.Inputs {
			written[i] = true
		}
		g.Inputs, g.Outputs = names(m.Inputs), names(m.Outputs)
		for n, c := range m.Calls {
			in, out, err := ends(m, c, written, &left)
			if err != nil {
				return nil, err
			}
			for _, i := range in {
				if !written[i] {
					written[i] = true
					g.Inputs = append(g.Inputs, name(i))
				}
			}
			for _, i := range out {
				written[i] = true
			}
			node := Node{Name: "call " + strconv.Itoa(n), Inputs: names(in), Outputs: names(out)}
			switch {
			case c.Delegate < 0:
				node.Op = ops[c.Operator]
			case m.Delegates[c.Delegate] == npuDelegate:
				g.Parts = append(g.Parts, Part{Inputs: node.Inputs, Outputs: node.Outputs})
				continue
			default:
				node.Op = m.Delegates[c.Delegate]
			}
			g.CPU = append(g.CPU, node)
		}
		graphs = append(graphs, g)
	}
	return graphs, nil
}

// ends are the tensors that a call reads and writes. ExecuTorch repeats what an operation writes as its last argument; without that, it is those at the end
// that nothing before has written. What is written already is read, too: it is written in place.
func ends(m pte.Method, c pte.Call, written map[int]bool, left *room) (in, out []int, err error) {
	all, err := tensors(m, c.Args, left)
	if err != nil {
		return nil, nil, err
	}
	if n := len(c.Args) - 1; c.Delegate < 0 && n > 0 {
		last, err := tensors(m, c.Args[n:], left)
		if err != nil {
			return nil, nil, err
		}
		before, err := tensors(m, c.Args[:n], left)
		if err != nil {
			return nil, nil, err
		}
		if len(last) > 0 && len(before) == len(all) {
			writes := map[int]bool{}
			for _, i := range last {
				writes[i] = true
			}
			return slices.DeleteFunc(all, func(i int) bool { return writes[i] && !written[i] }), last, nil
		}
	}
	k := len(all)
	for k > 0 && !written[all[k-1]] {
		k--
	}
	return all[:k], all[k:], nil
}

// tensors are those among arguments, and in lists among them, each once.
func tensors(m pte.Method, args []int, left *room) ([]int, error) {
	var found []int
	seen := map[int]bool{}
	add := func(i int) {
		if m.Values[i].Type != "" && !seen[i] {
			seen[i] = true
			found = append(found, i)
		}
	}
	if err := left.take(1 + len(args)); err != nil {
		return nil, err
	}
	for _, i := range args {
		if list := m.Values[i].List; len(list) > 0 && !seen[i] {
			seen[i] = true
			if err := left.take(len(list)); err != nil {
				return nil, err
			}
			for _, k := range list {
				add(k)
			}
		}
		add(i)
	}
	return found, nil
}
