// Package example holds the sources of a small QNN op package, LLaMAPackage, in the layout that op packages have:
// LLaMAPackage/config for converters, LLaMAPackage/src for compilers.
//
// Every op has a reference branch (REFERENCE_OP, for the host processor) and a vector branch for the DSP; both give the
// same bits. The sources speak the tensor API's older dialect (get_interface_scale), as many packages do, so that building
// them against a newer SDK takes the rename that the patches package makes.
//
// It does not know how it is built; the oppackage kind and its generated makefile do that.
package example

import (
	"embed"
	"io/fs"
)

//go:embed LLaMAPackage
var embedded embed.FS

// Files returns the package's folder: config and src.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "LLaMAPackage")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}
