package docker

import (
	"net/http"
	"testing"
)

func sendRaw(t *testing.T, m *moby, method string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://api.moby.localhost/v1.41/containers/a", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := m.meter.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}
