//go:build linux

package phone_test

import (
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

func TestMain(m *testing.M) { Main(m) }
