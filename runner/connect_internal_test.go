package runner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
)

// TestShown: a new server lists a phone before it can use the phone.
func TestShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		shown(t.Context(), func(context.Context) ([]adb.Info, error) {
			switch since := time.Since(begun); {
			case since < 200*time.Millisecond:
				return nil, nil
			case since < time.Second:
				return []adb.Info{{Serial: "A", State: "offline"}, {Serial: "B", State: "unauthorized"}}, nil
			}
			return []adb.Info{{Serial: "A", State: "device"}}, nil
		})
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it waited %v", took)
		}
		shown(t.Context(), func(context.Context) ([]adb.Info, error) { return nil, nil })
		if took := time.Since(begun) - time.Second; took != findWait {
			t.Errorf("without a phone it waited %v", took)
		}
	})
}
