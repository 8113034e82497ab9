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

// headers are credentials.PerRPCCredentials: Options.Headers, and the headers of the credential helper. The helper runs
// before the first call and after its headers expire. Errors contain no header.
type headers struct {
	o Options

	mu    sync.Mutex
	said  map[string]string // by the helper; nil: the helper did not run yet
	until time.Time         // expiry of said
}

// askTime is the time limit for a credential helper. saidAge is the lifetime of headers without an expiry time.
const (
	askTime = 30 * time.Second
	saidAge = 5 * time.Minute
	maxSaid = 1 << 20 // bytes
)

// RequireTransportSecurity implements credentials.PerRPCCredentials. It returns false because Dial has already checked
// the address, and a server on this machine needs no TLS.
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

// drop discards the helper's headers, so that the helper runs again. It reports whether it discarded any.
func (h *headers) drop() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.said != nil
	h.said = nil
	return asked
}

// ask runs the helper by the protocol of Bazel's credential helpers: argument get, {"uri": …} in, {"headers": {NAME:
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
		return fmt.Errorf("credential helper %s: %w; run the helper yourself to see its message",
			h.o.Credentials[0], err)
	}
	var said struct {
		Headers map[string][]string `json:"headers"`
		Expires time.Time           `json:"expires"`
	}
	if out.Len() > maxSaid || json.Unmarshal(out.Bytes(), &said) != nil {
		return fmt.Errorf(`credential helper %s: unexpected output; the helper must print {"headers": {NAME: [VALUE]}}`,
			h.o.Credentials[0])
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
