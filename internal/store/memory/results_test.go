package memory_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func TestResults(t *testing.T) {
	storetest.Results(t, "*memory.Results", func(*testing.T) store.Results { return memory.NewResults() })
}
