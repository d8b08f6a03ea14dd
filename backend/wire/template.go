package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// placeholder matches what stands in a template for a value: a lower-case word in braces.
var placeholder = regexp.MustCompile(`\{([a-z][a-z_]*)\}`)

// Placeholders lists the names in a template, in their order, doubles included.
func Placeholders(template string) []string {
	var names []string
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		names = append(names, m[1])
	}
	return names
}

// CheckURL refuses URL templates that are no absolute http(s) URLs or whose values could name another server.
func CheckURL(template string) error {
	u, err := ParseURL(placeholder.ReplaceAllString(template, "x"))
	if err != nil {
		return err
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(template, u.Scheme+"://"), "/")
	if host, _, _ = strings.Cut(host, "?"); strings.Contains(host, "{") {
		name := "a placeholder"
		if names := Placeholders(host); len(names) > 0 {
			name = "{" + names[0] + "}"
		}
		return fmt.Errorf("%s cannot be part of the host: a value could name any server", name)
	}
	return nil
}

// FillURL fills a URL template in. A value is one path segment or part of one, or one query value, whatever it
// contains; one that would make a segment a step in the tree (. or ..) is refused.
func FillURL(template string, value func(name string) (string, error)) (string, error) {
	path, query, hasQuery := strings.Cut(template, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		filled, err := Fill(s, value, url.PathEscape)
		if err != nil {
			return "", err
		}
		if s != filled && (filled == "." || filled == ".." || filled == "") {
			return "", fmt.Errorf("%q cannot be part of a path", filled)
		}
		segments[i] = filled
	}
	out := strings.Join(segments, "/")
	if hasQuery {
		filled, err := Fill(query, value, url.QueryEscape)
		if err != nil {
			return "", err
		}
		out += "?" + filled
	}
	return out, nil
}

// FillHeaders fills header templates in. Values that no header can carry are refused.
func FillHeaders(templates map[string]string, value func(name string) (string, error)) (http.Header, error) {
	h := make(http.Header, len(templates))
	for name, template := range templates {
		v, err := Fill(template, value, func(s string) string { return s })
		if err != nil {
			return nil, err
		}
		if !HeaderText(v) {
			return nil, fmt.Errorf("a value holds a control character and cannot be part of the header %s", name)
		}
		h.Set(name, v)
	}
	return h, nil
}

// Fill replaces the placeholders of a text by their escaped values. A value is never looked through for placeholders.
func Fill(template string, value func(name string) (string, error), escape func(string) string) (string, error) {
	var errs []error
	out := placeholder.ReplaceAllStringFunc(template, func(m string) string {
		v, err := value(m[1 : len(m)-1])
		if err != nil {
			errs = append(errs, err)
		}
		return escape(v)
	})
	return out, errors.Join(errs...)
}
