package langserver

import (
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// Requests answers requests without a connection.
type Requests struct{ s *server }

func NewRequests(h Host) Requests { return Requests{newServer(h, func() {})} }

func (r Requests) Ask(method string, params json.RawMessage) (any, error) {
	return r.s.answer(&jsonrpc2.Request{Method: method, Params: &params})
}
