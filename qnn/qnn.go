// Package qnn has types and comparisons for SoCs, Hexagon archs and SDK releases. It also checks whether files fit
// together: the libraries of a push set, and a context binary with its runtime.
//
// Package facts reads Facts from HCL and evaluates the rules about versions and targets. PushSet and CheckContext
// implement the coded rules and return Findings.
//
// The package opens no files and reads no HCL. It does not know downloads, pipelines or phones, so it needs no
// workspace.
package qnn
