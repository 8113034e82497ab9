// Package fit reckons, before anything is downloaded, quantised or compiled, what a decoder will take on its way to an NPU and on it: the context's size, in
// how many parts it has to be split, the compiler's memory, the phone's, and the least time a token can take.
//
//	Read ─► Model ─┐
//	        Way ───┼─► Of ─► Estimate, with what does not fit
//	        Known ─┘
//
// What it knows of the vendor's compiler are numbers that were measured (measured.go, docs/fit.md). It runs nothing, and reads no weights. What is known of a
// SoC is handed in, with where it is known from.
package fit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hexmage/hexmage/qnn"
)

// Way is how a model is to be quantised, cut and compiled.
type Way struct {
	Scheme    string `json:"scheme"`     // a16w8, a16w4, lpbq
	BlockSize int64  `json:"block_size"` // inputs that share a scale, of lpbq
	Chunk     int64  `json:"chunk"`      // tokens that prefill takes at once
	Context   int64  `json:"context"`    // tokens that the cache holds
	KV        string `json:"kv"`         // uint8, uint16, float16
	Splits    int64  `json:"splits"`     // contexts that the layers are cut into; 0: as few as fit
	Outside   bool   `json:"embedding_outside"`
	Sharing   bool   `json:"sharing"` // prefill and decode have their weights once
}

// Schemes, Caches are what a Way may name.
func Schemes() []string { return []string{"a16w8", "a16w4", "lpbq"} }

// Caches are the types that a cache may have.
func Caches() []string { return []string{"uint8", "uint16", "float16"} }

// check refuses a way that no graph can be made by.
func (w Way) check(m Model) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !slices.Contains(Schemes(), w.Scheme) {
		wrong("there is no scheme %q; there are %v", w.Scheme, Schemes())
	}
	if !slices.Contains(Caches(), w.KV) {
		wrong("there is no cache of %q; there are %v", w.KV, Caches())
	}
	if w.Chunk < 1 || w.Chunk > maxChunk || w.Context < w.Chunk || w.Context > maxContext {
		wrong("a chunk of %d tokens and a context of %d: a chunk has 1 to %d, a context at least as many, and %d at most", w.Chunk, w.Context, maxChunk, maxContext)
	}
	if w.Splits < 0 || w.Splits > m.Layers {
		wrong("%d splits: the model has %d layers", w.Splits, m.Layers)
	}
	if w.Scheme == "lpbq" {
		for _, inputs := range []int64{m.Hidden, m.Heads * m.HeadDim, m.Intermediate} {
			if w.BlockSize < 1 || inputs%w.BlockSize != 0 {
				wrong("a matrix of %d inputs does not divide into blocks of %d", inputs, w.BlockSize)
			}
		}
	}
	return errors.Join(errs...)
}

const (
	maxChunk   = 4096
	maxContext = 1 << 20
)

// Fact is a number of the target, with where it is known from; 0 is not known.
type Fact struct {
	Value  float64 `json:"value"`
	Sure   string  `json:"sure,omitempty"`
	Source string  `json:"source,omitempty"`
}

// Known is what the target sets against a model.
type Known struct {
	Target    qnn.Target
	Features  []string // of its HTP; nil: not known
	Feature   Fact     // where those are known from
	VTCM      Fact     // bytes
	Context   Fact     // bytes that one context may take
	Process   Fact     // bytes that the contexts and buffers of a process may take
	Bandwidth Fact     // bytes a second
}

// KnownOf is what the records say of a SoC.
func KnownOf(f *qnn.Facts, s *qnn.SoC) Known {
	fact := func(value float64, x qnn.Fact) Fact {
		if value == 0 {
			return Fact{}
		}
		return Fact{value, x.Sure, x.Source}
	}
	k := Known{Target: *s.Target(), VTCM: fact(float64(s.VTCMMB)*(1<<20), s.Fact(f, "vtcm_mb")), Bandwidth: fact(s.Bandwidth*1e9, s.Fact(f, "bandwidth_gbs"))}
	if a := f.FindArch(s.Arch); a != nil {
		k.Context, k.Process = fact(float64(a.ContextMB)*(1<<20), a.Fact(f, "context_mb")), fact(float64(a.ProcessMB)*(1<<20), a.Fact(f, "process_mb"))
		if len(a.Features) > 0 {
			k.Features, k.Feature = f.Features(s), fact(1, a.Fact(f, "features"))
		}
	}
	return k
}

// Part is one of the contexts that a model becomes.
type Part struct {
	Graphs    []string `json:"graphs"`
	First     int64    `json:"first_layer"`
	Layers    int64    `json:"layers"` // from the first on
	Embedding bool     `json:"embedding"`
	Head      bool     `json:"head"`
	Bytes     int64    `json:"bytes"`
	Compile   int64    `json:"compile_bytes"` // that the compiler takes at its peak
}

// Estimate is what a model is reckoned to take. Sizes are bytes.
type Estimate struct {
	Model    Model     `json:"model"`
	Way      Way       `json:"way"`
	Weights  Weights   `json:"weights"`
	Contexts []Part    `json:"contexts"`
	Largest  int64     `json:"largest_context"`
	Needed   int64     `json:"needed_splits"` // 0: no number of splits makes it fit, or it is not known what fits
	Process  int64     `json:"process"`       // contexts, cache and buffers together
	Compile  int64     `json:"compile"`       // the compiler's memory at its peak, of the compile that takes most
	Phone    Phone     `json:"phone"`
	Token    Token     `json:"token"`
	Widest   Tensor    `json:"widest"` // the largest tensor that prefill works on
	Findings []Finding `json:"findings"`
}

// Weights are a model's as the compiler holds them.
type Weights struct {
	Layers    int64 `json:"layers"` // matrices, with their scales
	Head      int64 `json:"head"`
	Embedding int64 `json:"embedding"`
}

// Phone is what the model has of a phone's memory, without what is there beside it: runtime, tokenizer, Android.
type Phone struct {
	Contexts  int64 `json:"contexts"`
	Cache     int64 `json:"cache"`
	Buffers   int64 `json:"buffers"`   // inputs and outputs of both graphs, without the cache
	Embedding int64 `json:"embedding"` // outside of the contexts
	Total     int64 `json:"total"`
}

// Token is what decoding one has to read of the memory, and how long that takes at least.
type Token struct {
	Bytes     int64   `json:"bytes"`
	Floor     float64 `json:"floor_ms"` // 0: the bandwidth is not known
	PerSecond float64 `json:"most_per_second"`
}

// Tensor is one that a graph works on.
type Tensor struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Finding is what does not fit, or may not, or what is good to know.
type Finding struct {
	Severity string `json:"severity"` // qnn.SeverityError: it does not fit; a warning: it may not; a note: it is slower
	Says     string `json:"says"`
	Do       string `json:"do"`
	Sure     string `json:"sure,omitempty"`
	Source   string `json:"source,omitempty"`
}

// Of reckons what a model takes on its way to a target. The error says what of the way cannot be.
func Of(m Model, w Way, k Known) (*Estimate, error) {
	if err := w.check(m); err != nil {
		return nil, err
	}
	e := &Estimate{Model: m, Way: w, Weights: weights(m, w)}
	limit := int64(k.Context.Value)
	if limit > 0 {
		e.Needed = e.needed(limit)
	}
	if e.Way.Splits == 0 {
		e.Way.Splits = max(1, e.Needed)
	}
	e.cut(e.Way.Splits)
	for _, c := range e.Contexts {
		e.Largest, e.Compile = max(e.Largest, c.Bytes), max(e.Compile, c.Compile)
		e.Phone.Contexts += c.Bytes
	}
	e.phone()
	e.Process = e.Phone.Contexts + e.Phone.Cache + e.Phone.Buffers
	e.token(k.Bandwidth.Value)
	e.Widest = widest(m, w)
	e.judge(k)
	return e, nil
}

// kvBytes is how much a number of the cache takes.
func (w Way) kvBytes() int64 {
	if w.KV == "uint8" {
		return 1
	}
	return 2
}

// matrix is how much n weights in matrices with so many outputs take.
func (w Way) matrix(n, outputs int64) int64 {
	switch w.Scheme {
	case "a16w8":
		return n + outputs*outputBytes
	case "lpbq":
		return n/2 + n/w.BlockSize*blockBytes + outputs*outputBytes
	}
	return n/2 + outputs*outputBytes
}

func weights(m Model, w Way) Weights {
	made := Weights{Layers: m.Layers * w.matrix(m.Matrices(), m.Outputs()), Head: m.Vocabulary * (m.Hidden + outputBytes)}
	if !w.Outside {
		made.Embedding = 2 * m.Vocabulary * m.Hidden
	}
	return made
}

// graphs are the graphs of each context of a part.
func (w Way) graphs() [][]string {
	if w.Sharing {
		return [][]string{{"prefill", "decode"}}
	}
	return [][]string{{"prefill"}, {"decode"}}
}

// part is how many bytes the largest context of a part has that has so many layers, and is the first, with the embedding, or the last, with the head.
func (e *Estimate) part(layers int64, first, last bool) int64 {
	c := Part{Layers: layers, Embedding: first && !e.Way.Outside, Head: last}
	var most int64
	for _, graphs := range e.Way.graphs() {
		c.Graphs = graphs
		most = max(most, e.size(c))
	}
	return most
}

// parts tells how many layers each of at most so many parts has, none of which is larger than the limit; nil where that cannot be.
func (e *Estimate) parts(limit, most int64) (layers []int64) {
	left := e.Model.Layers
	for left > 0 && int64(len(layers)) < most {
		first := len(layers) == 0
		if e.part(left, first, true) <= limit {
			return append(layers, left)
		}
		n := int64(0)
		for n < left && e.part(n+1, first, false) <= limit {
			n++
		}
		if n == left {
			n-- // the head needs a part, and the part a layer
		}
		if n == 0 {
			return nil
		}
		layers, left = append(layers, n), left-n
	}
	if left > 0 {
		return nil
	}
	return layers
}

// needed is how many parts it takes so that none is larger than the limit; 0 where no number does.
func (e *Estimate) needed(limit int64) int64 { return int64(len(e.parts(limit, e.Model.Layers))) }

// cut makes the contexts: so many parts, the largest of which is as small as can be.
func (e *Estimate) cut(splits int64) {
	low, high := int64(0), e.part(e.Model.Layers, true, true)
	for high-low > 1 {
		if mid := low + (high-low)/2; int64(len(e.parts(mid, splits))) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	layers := e.parts(high, splits)
	for int64(len(layers)) < splits { // fewer are as good: the largest is what cannot be cut
		i := slices.Index(layers, slices.Max(layers))
		if layers[i] == 1 {
			break
		}
		layers = slices.Insert(layers, i+1, layers[i]/2)
		layers[i] -= layers[i+1]
	}
	var first int64
	for i, n := range layers {
		for _, graphs := range e.Way.graphs() {
			c := Part{Graphs: graphs, First: first, Layers: n, Embedding: i == 0 && !e.Way.Outside, Head: i == len(layers)-1}
			c.Bytes, c.Compile = e.size(c), e.compile(c)
			e.Contexts = append(e.Contexts, c)
		}
		first += n
	}
}

// held is how much the weights of a context take.
func (e *Estimate) held(c Part) int64 {
	n := e.Weights.Layers / e.Model.Layers * c.Layers
	if c.Embedding {
		n += e.Weights.Embedding
	}
	if c.Head {
		n += e.Weights.Head
	}
	return n
}

// phone adds up the phone's memory.
func (e *Estimate) phone() {
	m, w := e.Model, e.Way
	e.Phone.Cache = 2 * m.Layers * m.KVHeads * m.HeadDim * w.Context * w.kvBytes()
	for _, tokens := range []int64{w.Chunk, 1} {
		in := 4*tokens + 4*tokens*(w.Context+tokens) + 2*4*tokens*m.HeadDim/2 // ids, mask, cosine and sine
		out := 4*tokens*m.Vocabulary + 2*m.Layers*m.KVHeads*m.HeadDim*tokens*w.kvBytes()
		between := max(0, w.Splits-1) * 2 * tokens * m.Hidden * 2 // what a part hands to the next, as its output and as the input
		if w.Outside {
			in += 4 * tokens * m.Hidden
		}
		e.Phone.Buffers += in + out + between
	}
	if w.Outside {
		e.Phone.Embedding = 2 * m.Vocabulary * m.Hidden
	}
	e.Phone.Total = e.Phone.Contexts + e.Phone.Cache + e.Phone.Buffers + e.Phone.Embedding
}

// token is what decoding one reads: the matrices of all layers and of the head once, a row of the embedding, and the cache, whole, as static graphs do.
func (e *Estimate) token(bandwidth float64) {
	e.Token.Bytes = e.Weights.Layers + e.Weights.Head + 2*e.Model.Hidden + e.Phone.Cache
	if bandwidth > 0 {
		seconds := float64(e.Token.Bytes) / bandwidth
		e.Token.Floor, e.Token.PerSecond = 1e3*seconds, 1/seconds
	}
}

// widest is the largest tensor that prefill works on.
func widest(m Model, w Way) Tensor {
	return slices.MaxFunc([]Tensor{{"logits", 2 * w.Chunk * m.Vocabulary}, {"attention scores", 2 * m.Heads * w.Chunk * (w.Context + w.Chunk)}, {"gate and up", 2 * w.Chunk * m.Intermediate}},
		func(a, b Tensor) int { return cmp.Compare(a.Bytes, b.Bytes) })
}
