package fit

// What the vendor's compiler makes of a graph, in numbers that were measured with QAIRT 2.51.0 (docs/fit.md, testdata).
const (
	outputBytes = 14 // of a matrix, for each output: what it is quantised by
	blockBytes  = 1  // of lpbq, for each block

	graphBytes = 50_000 // of each graph in a context, whatever it has
	layerBytes = 10_000 // and for each of its layers: the operations
	widthBytes = 100    // and for each of its layers and each number in its hidden width

	compilerBytes  = 159_000_000 // of the compiler's process, whatever it compiles
	compileGraph   = 8_000_000   // for each graph
	compileLayer   = 4_150_000   // for each layer of each graph
	compileLargest = 2.6         // for each graph, times the weights in a layer's matrices, or in the head where it has more: what it works on
	compileHeld    = 4.65        // for each graph, times the bytes that it has of weights
)

// size is how many bytes a context has.
func (e *Estimate) size(c Part) int64 {
	layer := layerBytes + widthBytes*e.Model.Hidden
	return e.held(c) + int64(len(c.Graphs))*(graphBytes+c.Layers*layer)
}

// compile is how many bytes the compiler takes for a context, at its peak.
func (e *Estimate) compile(c Part) int64 {
	largest := e.Model.Matrices()
	if c.Head {
		largest = max(largest, e.Model.Vocabulary*e.Model.Hidden)
	}
	works := compileLargest*float64(largest) + compileHeld*float64(e.held(c))
	return compilerBytes + int64(len(c.Graphs))*(compileGraph+c.Layers*compileLayer+int64(works))
}
