// Package toymodel is the toy model of docs/design/0002: a seeded generator of float weights in Hugging Face's layout,
// and the reference of the simulated runner's tokens.
//
// The runner implements the same document on its own, and both must give the same tokens, so the two share no code.
// The package knows neither context binaries nor devices.
package toymodel
