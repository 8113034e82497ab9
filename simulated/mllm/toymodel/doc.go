// Package toymodel is the small toy model of docs/design/0002: its configuration, a seeded generator of float weights,
// its tokenizer, and a reference forward pass over quantised weights that is exact to the last bit.
//
// The reference exists to be compared with: the device runner implements the same document on its own, and the two must give the
// same tokens. So this package shares no code with it, and prefers the document's words to speed.
//
// It does not know how weights are quantised (simulated/mllm/quantizer), what a context binary is, or what a device is.
package toymodel
