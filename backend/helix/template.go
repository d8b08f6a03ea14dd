package helix

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const placeholder = "{session}"

// checkTemplate refuses templates that a session id could turn into another place.
func checkTemplate(raw string, perSession bool) error {
	if !perSession && strings.Contains(raw, placeholder) {
		return errors.New("asks about all sessions, so it cannot hold {session}")
	}
	return wire.CheckURL(raw)
}

// onlySession refuses placeholders that are never filled in.
func onlySession(template string) error {
	for _, name := range wire.Placeholders(template) {
		if name != "session" {
			return fmt.Errorf("{%s} is not known here; write {session}", name)
		}
	}
	return nil
}

// only gives the value of {session}.
func only(id backend.ID) func(string) (string, error) {
	return func(name string) (string, error) {
		if name == "session" {
			return id.Raw(), nil
		}
		return "{" + name + "}", nil
	}
}

// sessionURL fills the template in. The id is one path segment, or one query value, whatever it contains.
func sessionURL(template string, id backend.ID) (string, error) {
	out, err := wire.FillURL(template, only(id))
	if err != nil {
		return "", fmt.Errorf("the session id: %w", err)
	}
	return out, nil
}

// sessionHeaders fills the headers in. Line breaks and other controls in an id are refused.
func sessionHeaders(templates map[string]string, id backend.ID) (http.Header, error) {
	return wire.FillHeaders(templates, only(id))
}

// plainHeaders are the headers of the routes that concern no single session.
func plainHeaders(templates map[string]string) http.Header {
	h := make(http.Header, len(templates))
	for name, v := range templates {
		if !strings.Contains(v, placeholder) {
			h.Set(name, v)
		}
	}
	return h
}

// withCursor adds the cursor of a page to a route.
func withCursor(route, cursor string) string {
	if cursor == "" {
		return route
	}
	sep := "?"
	if strings.Contains(route, "?") {
		sep = "&"
	}
	return route + sep + "cursor=" + url.QueryEscape(cursor)
}
