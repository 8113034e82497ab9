// Package qnn has what is true of Qualcomm's world, as types and comparisons: SoCs, Hexagon archs, releases of SDKs, and what goes
// together and what does not of things that only files know (libraries of one push set, a context binary and the runtime that is to
// load it).
//
// One enters it with Facts, which package facts reads from HCL, and with PushSet and CheckContext. Rules about versions and targets are
// data and are asked by package facts; both kinds of rules give Findings. The package opens no files, reads no HCL, and does not know
// how an SDK is had, what a pipeline is, or what a phone says: so code that runs far from a workspace can use it.
package qnn
