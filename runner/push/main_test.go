//go:build linux

package push

import (
	"os"
	"testing"

	"github.com/hexmage/hexmage/standin/phone/phonetest"
)

func TestMain(m *testing.M) { os.Exit(phonetest.Main(m)) }
