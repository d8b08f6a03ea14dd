package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Unset refuses the credentials for reading whose environment variable is not set; without them nothing can be read.
func (c *Config) Unset(getenv func(string) string) Errors {
	var wrong Errors
	for _, s := range c.Sources {
		o, ok := s.Options.(*options)
		if !ok {
			continue
		}
		for _, t := range o.block.kids {
			if n := unset(t, getenv); n != nil && !slices.Contains(o.taken, t.key) {
				wrong = append(wrong, o.file.errorf(n.value, "%q in %s: the environment variable %s is not set", t.key+".env", o.where, n.text))
			}
		}
	}
	return wrong
}

// unset is the key of a credential's table that names an environment variable which is not set, nil where there is none.
func unset(t *node, getenv func(string) string) *node {
	if t == nil || t.shape != shapeTable {
		return nil
	}
	if n := t.child("env"); n != nil && n.shape == shapeText && n.text != "" && getenv(n.text) == "" {
		return n
	}
	return nil
}

// UnsetActing is the environment variable of the acting credential of options, where it is named and not set.
func UnsetActing(from any, getenv func(string) string) string {
	o, ok := from.(*options)
	if !ok || slices.Contains(o.taken, actKey) {
		return ""
	}
	if n := unset(o.block.child(actKey), getenv); n != nil {
		return n.text
	}
	return ""
}

// ReadsInPlain is the host to which the reading credential goes over plain http; empty: to none but this machine.
func (s Source) ReadsInPlain() string {
	o, ok := s.Options.(*options)
	if !ok {
		return ""
	}
	secret := len(s.Credentials()) > 0
	if h := o.block.child("headers"); h != nil && slices.ContainsFunc(h.kids, func(k *node) bool { return secretKey.MatchString(k.key) }) {
		secret = true
	}
	if !secret {
		return ""
	}
	for _, k := range o.block.kids {
		if host := plainHost(k); host != "" && !slices.Contains(o.taken, k.key) {
			return host
		}
	}
	return ""
}

// ActsInPlain is the host to which the acting credential goes over plain http; empty: to none but this machine.
func (s Source) ActsInPlain() string {
	o, ok := s.ActionOptions.(*options)
	if !ok || s.ActCredential() == "" {
		return ""
	}
	for _, t := range o.block.kids {
		if host := plainHost(t.child("url")); t.shape == shapeTable && host != "" && !slices.Contains(o.taken, t.key) {
			return host
		}
	}
	return ""
}

// ActsInPlain says the same of an [[action]].
func (a Action) ActsInPlain() string {
	if o, ok := a.Options.(*options); ok && a.ActCredential() != "" {
		return plainHost(o.block.child("url"))
	}
	return ""
}

// plainHost is the host of a plain http address on another machine.
func plainHost(n *node) string {
	if n == nil || n.shape != shapeText {
		return ""
	}
	rest, plain := strings.CutPrefix(strings.ToLower(n.text), "http://")
	if !plain {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	u, err := url.Parse("http://" + host)
	if err != nil {
		return host
	}
	name := u.Hostname()
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return ""
	}
	return name
}
