package compiler

import (
	"fmt"

	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// opPackage is the op package whose RMSNorm the graphs call.
const opPackage = "LLaMAPackage"

// payload returns the context's blob without graphs.
func payload(w *toymodel.Weights) *blob.Blob {
	c := w.Config
	m := w.Model()
	return &blob.Blob{Vocab: uint32(c.VocabSize), Hidden: uint32(c.HiddenSize), Layers: uint32(c.NumHiddenLayers),
		Context: uint32(c.MaxCacheLength), OpPackage: opPackage, Embedding: m.Embedding, Norms: m.Norms}
}

// graph returns the graph for a number of tokens.
func graph(tokens int) blob.Graph {
	return blob.Graph{Name: fmt.Sprintf("model.0.s%d", tokens), Tokens: uint32(tokens)}
}
