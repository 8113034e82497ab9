// Package sdk packs the simulated SDKs: SDK trees in the vendors' layouts, written by this project, with real compilers
// behind the vendors' compiler names and small real ELF files where the vendors have libraries.
//
// It gives archives as bytes; it does not know how an archive is fetched, verified or unpacked, nor where the compilers
// come from that its wrappers start, and it contains nothing of any vendor. README.md says what is simulation and how
// honest it is.
package sdk
