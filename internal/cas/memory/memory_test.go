package memory_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/cas/castest"
	"github.com/hexmage/hexmage/internal/cas/memory"
	"github.com/hexmage/hexmage/internal/digest"
)

func TestStore(t *testing.T) {
	castest.Run(t, func(*testing.T) cas.Store { return memory.New() })
}

func TestDamage(t *testing.T) {
	castest.RunDamage(t, func(*testing.T) (cas.Store, func(digest.Digest, []byte)) {
		s := memory.New()
		return s, s.Damage
	})
}
