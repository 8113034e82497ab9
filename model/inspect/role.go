package inspect

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Symbols that open QNN's own libraries.
const (
	backendEntry = "QnnInterface_getProviders"
	systemEntry  = "QnnSystemInterface_getProviders"
)

// Roles of libraries in QNN.
const (
	skelRole    = "skel"
	stubRole    = "stub"
	prepareRole = "prepare library"
	systemRole  = "system library"
	backendRole = "backend"
	genieRole   = "Genie library"
	pluginRole  = "execution provider of onnxruntime"
	toolRole    = "extensions of qnn-net-run"
)

// symbolRole returns the role of a library that exports the symbol, or "" if the symbol implies none.
func symbolRole(name string) string {
	switch {
	case strings.HasPrefix(name, "qnn_") && strings.HasSuffix(name, "skel_handle_invoke"):
		return skelRole
	case strings.HasPrefix(name, "stubLoad"):
		return stubRole
	case name == systemEntry:
		return systemRole
	case name == backendEntry:
		return backendRole
	case strings.HasPrefix(name, "GenieDialog_"):
		return genieRole
	case name == "CreateEpFactories":
		return pluginRole
	case name == "createBackendInterface":
		return toolRole
	}
	return ""
}

var (
	skelName    = lazyregexp.New(`^libQnnHtpV\d+Skel\.so$`)
	stubName    = lazyregexp.New(`^libQnnHtpV\d+Stub\.so$`)
	prepareName = lazyregexp.New(`^lib(?:QnnHtpPrepare|HtpPrepare|SnpeHtp)\.so$`)
)

// role returns a library's role in QNN by its soname, its exports and its provider's name. Only the soname
// identifies the prepare library.
func role(name string, roles, providers []string) string {
	switch {
	case prepareName.MatchString(name):
		return prepareRole
	case stubName.MatchString(name):
		return stubRole
	case skelName.MatchString(name):
		return skelRole
	}
	for _, r := range []string{skelRole, stubRole, systemRole, backendRole, genieRole, pluginRole, toolRole} {
		if !slices.Contains(roles, r) {
			continue
		}
		if r == backendRole && len(providers) == 1 {
			kind, _, _ := strings.Cut(providers[0], "_")
			return kind + " backend"
		}
		return r
	}
	return ""
}
