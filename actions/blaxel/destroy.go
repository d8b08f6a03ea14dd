package blaxel

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// destroy deletes the sandbox by one request. Later readings of the inventory show the result.
func (c *client) destroy(ctx context.Context, _ actions.Target) (actions.Done, error) {
	a, err := c.control(ctx, http.MethodDelete, c.path)
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case a.refusal != nil && a.refusal.Gone():
		return actions.Done{}, c.notThere(ctx)
	case a.refusal != nil:
		return actions.Done{}, c.refused(a.refusal)
	}
	return actions.Done{Text: backend.Text("the platform accepted it")}, nil
}

// notThere reads the record of a sandbox whose deletion was answered with 404: only where that has gone too was it gone before.
func (c *client) notThere(ctx context.Context) error {
	r, err := c.control(ctx, http.MethodGet, c.path)
	if err == nil && r.refusal == nil {
		return errors.New("the platform answered that there is no such sandbox, and still has its record: it may run on and cost money")
	}
	if err == nil && r.refusal.Gone() {
		return &actions.ChangedError{What: backend.Text("the platform has no such sandbox any more")}
	}
	return errors.New("the platform answered that there is no such sandbox, and its record could not be read then: whether it is gone is not known")
}

// revoke removes a token of a preview, and reads whether it is gone.
func (c *client) revoke(ctx context.Context, t actions.Target) (actions.Done, error) {
	tokens, name := c.path+"/previews/"+url.PathEscape(fact(t, factPreview))+"/tokens", fact(t, factToken)
	a, err := c.control(ctx, http.MethodDelete, tokens+"/"+url.PathEscape(name))
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case a.refusal != nil && a.refusal.Gone():
		return actions.Done{}, &actions.ChangedError{What: backend.Text("the platform has no such token any more")}
	case a.refusal != nil:
		return actions.Done{}, c.refused(a.refusal)
	}
	done := actions.Done{Text: backend.Text("the platform accepted it")}
	left, err := c.control(ctx, http.MethodGet, tokens)
	if err != nil || left.refusal != nil {
		return done, nil
	}
	if names, whole := tokenNames(left.body); whole && !slices.Contains(names, name) {
		done.Proved, done.Text = true, backend.Text("the platform lists the token no more")
	}
	return done, nil
}

// tokenNames are the names in a list of tokens; whole reports whether all of it could be read.
func tokenNames(body []byte) (names []string, whole bool) {
	pointer := ""
	if doc, err := wire.Parse(body); err != nil {
		return nil, false
	} else if doc.Root().Kind() == '{' {
		pointer = "/data"
	}
	doc, bad, err := wire.ParseList(body, pointer)
	if err != nil || len(bad) > 0 {
		return nil, false
	}
	list, is := doc.Find(pointer)
	if !is || list.Kind() != '[' {
		return nil, false
	}
	for n := range list.Elements() {
		name, told := n.Get("metadata").Get("name").Text()
		if !told {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}
