package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// headers are credentials.PerRPCCredentials: Options.Headers, and what the credential helper says, which is asked
// when they are needed first and again when they are over. Nothing of them stands in an error.
type headers struct {
	o Options

	mu    sync.Mutex
	said  map[string]string // by the helper; nil: it was not asked
	until time.Time         // when that is over
}

// askTime is how long a helper may take, and saidAge how long what it said counts if it does not say that itself.
const (
	askTime = 30 * time.Second
	saidAge = 5 * time.Minute
	maxSaid = 1 << 20 // bytes
)

// RequireTransportSecurity implements credentials.PerRPCCredentials: Dial has looked after it, and where it is this
// machine there is none.
func (h *headers) RequireTransportSecurity() bool { return false }

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (h *headers) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	all := map[string]string{}
	for name, value := range h.o.Headers {
		all[strings.ToLower(name)] = value
	}
	if len(h.o.Credentials) == 0 {
		return all, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said == nil || time.Now().After(h.until) {
		if err := h.ask(ctx); err != nil {
			return nil, err
		}
	}
	maps.Copy(all, h.said)
	return all, nil
}

// drop has the helper asked again, if there is one that was asked.
func (h *headers) drop() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.said != nil
	h.said = nil
	return asked
}

// ask runs the helper, by the protocol that Bazel's helpers have: the argument get, {"uri": …} in, {"headers": {NAME:
// [VALUE, …]}, "expires": TIME} out.
func (h *headers) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	in, err := json.Marshal(map[string]string{"uri": strings.Replace(h.o.Address, "grpc", "http", 1)})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, h.o.Credentials[0],
		append(h.o.Credentials[1:len(h.o.Credentials):len(h.o.Credentials)], "get")...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = bytes.NewReader(in), &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the credential helper %s: %w: run it yourself to see what is wrong", h.o.Credentials[0], err)
	}
	var said struct {
		Headers map[string][]string `json:"headers"`
		Expires time.Time           `json:"expires"`
	}
	if out.Len() > maxSaid || json.Unmarshal(out.Bytes(), &said) != nil {
		return fmt.Errorf(`the credential helper %s did not print {"headers": {NAME: [VALUE]}}`, h.o.Credentials[0])
	}
	h.said, h.until = map[string]string{}, said.Expires
	if h.until.IsZero() {
		h.until = time.Now().Add(saidAge)
	}
	for name, values := range said.Headers {
		h.said[strings.ToLower(name)] = strings.Join(values, ",")
	}
	return nil
}
