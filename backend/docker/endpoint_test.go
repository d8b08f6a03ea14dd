package docker

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
)

func TestEndpointIsThatOfTheNewestPoll(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: strings.Repeat("a", 64), name: "one"})
	s, _ := f.source(nil)
	if _, _, _, err := s.Endpoint(); backend.KindOf(err) != backend.ErrUnreachable {
		t.Errorf("an endpoint before any engine answered: %v", err)
	}
	mustPoll(t, s)
	f.taken()
	host, api, c, err := s.Endpoint()
	if err != nil || host != "unix://"+f.path || api != "1.41" {
		t.Fatalf("%s, API %s, %v", host, api, err)
	}
	if n := len(f.taken()); n != 0 {
		t.Errorf("asking for it sent %d requests", n)
	}
	defer c.CloseIdleConnections()
	resp, err := c.Get("http://engine/v1.41/containers/json")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	_ = resp.Body.Close()
	// Acting needs a transport of the plain sort: the client library finds the dialer for raw streams there.
	if tr, ok := c.Transport.(*http.Transport); !ok || tr.DialContext == nil {
		t.Errorf("transport %T", c.Transport)
	}
	s.drop()
	if _, _, _, err := s.Endpoint(); err == nil {
		t.Error("an engine that went away still has an endpoint")
	}
}

func TestEndpointKeepsCertificates(t *testing.T) {
	f := newFake(t)
	s, _ := f.source(nil)
	mustPoll(t, s)
	s.mu.Lock()
	s.at = address{url: "tcp://127.0.0.1:2376", network: "tcp", dial: "127.0.0.1:2376", tls: tlsFiles{on: true}}
	s.mu.Unlock()
	host, _, c, err := s.Endpoint()
	if err != nil || host != "tcp://127.0.0.1:2376" {
		t.Fatal(host, err)
	}
	if got := c.Transport.(*http.Transport).TLSClientConfig; got == nil || got.MinVersion < tls.VersionTLS12 || got.InsecureSkipVerify {
		t.Errorf("%+v", got)
	}
}

// Keys of labels are data, and the names of the object Config are fields.
func TestKnownFieldsNameMapsByTheirField(t *testing.T) {
	_, data := (&Source{}).KnownFields()
	for _, want := range []string{"Config.Labels", "Labels", "LogConfig.Config", "NetworkSettings.Networks"} {
		if !slices.Contains(data, want) {
			t.Errorf("%s is no map", want)
		}
	}
	if slices.Contains(data, "Config") {
		t.Error("Config is a map")
	}
}
