package langserver

import (
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// Requests answers requests without a connection.
type Requests struct{ s *server }

func NewRequests(h Host) Requests {
	s := &server{host: h, open: newDocuments(), end: func() {}}
	s.checker = newChecker(s)
	return Requests{s}
}

func (r Requests) Ask(method string, params json.RawMessage) (any, error) {
	return r.s.answer(context.Background(), &jsonrpc2.Request{Method: method, Params: &params})
}
