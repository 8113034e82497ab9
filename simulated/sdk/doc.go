// Package sdk packs the simulated SDKs: SDK trees in Qualcomm's layouts, written by this project, with real compilers
// behind Qualcomm's compiler names and small real ELF files where Qualcomm has libraries.
//
// It gives archives as bytes; it does not know how an archive is fetched, verified or unpacked, nor where the compilers
// come from that its wrappers start, and it contains nothing of Qualcomm's. README.md says what is simulation and how
// honest it is.
package sdk
