package memory_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/actioncache"
	"github.com/hexmage/hexmage/internal/actioncache/actioncachetest"
	"github.com/hexmage/hexmage/internal/actioncache/memory"
)

func TestCache(t *testing.T) {
	actioncachetest.Run(t, func(*testing.T) actioncache.Cache { return memory.New() })
}
