//go:build linux

package qairt_test

import (
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

func TestMain(m *testing.M) { Main(m) }
