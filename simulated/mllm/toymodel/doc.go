// Package toymodel implements the toy model of README.md. It has a seeded generator of float weights in Hugging
// Face's layout, and a reference for the simulated runner's tokens. It shares no code with the runner, so that the two
// implementations check each other. The package does not know context binaries or devices.
package toymodel
