// Package sdk packs the simulated SDKs. These are trees in Qualcomm's layouts, written by this project: real compilers
// with Qualcomm's names, and small real ELF files as libraries. The package returns archives as bytes. README.md
// describes the simulation and its limits. The package contains no files from Qualcomm. It does not know how archives
// are unpacked or where compilers come from.
package sdk
