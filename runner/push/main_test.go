//go:build linux

package push

import (
	"os"
	"testing"

	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

func TestMain(m *testing.M) { os.Exit(phonetest.Main(m)) }
