package blaxel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// destroy deletes the sandbox by one request. Later readings of the inventory show the result.
func (c *client) destroy(ctx context.Context, _ actions.Target) (actions.Done, error) {
	request := actions.Step{Name: backend.Text("delete request"), Result: actions.StepStarting, Said: backend.Text("sent once, and never again")}
	c.told(request)
	a, err := c.control(ctx, http.MethodDelete, c.path)
	request.Took = a.took
	switch {
	case err != nil:
		err = lost(err)
	case a.refusal != nil && a.refusal.Gone():
		err = c.notThere(ctx)
	case a.refusal != nil:
		err = c.refusedByPlatform(a.refusal)
	}
	switch {
	case err == nil:
		request.Result, request.Said = actions.StepOK, backend.Text("the platform accepted it")
	case uncertain(err):
		request.Result, request.Said = actions.StepUnknown, c.clean(errors.Unwrap(err).Error(), 300)
	case a.refusal != nil:
		request.Result, request.Said = actions.StepFailed, c.clean(a.refusal.Text(), 300)
	default:
		request.Result, request.Said = actions.StepNotTried, c.clean(err.Error(), 300)
	}
	c.told(request)
	if err != nil {
		return actions.Done{Steps: []actions.Step{request}}, err
	}
	return actions.Done{Text: request.Said, Steps: []actions.Step{request}}, nil
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

// revoke removes a token of a preview by one request, and reads whether it is gone, whatever the answer: a token that is still listed
// still opens the preview.
func (c *client) revoke(ctx context.Context, t actions.Target) (actions.Done, error) {
	tokens, name := c.path+"/previews/"+url.PathEscape(fact(t, factPreview))+"/tokens", fact(t, factToken)
	a, err := c.control(ctx, http.MethodDelete, tokens+"/"+url.PathEscape(name))
	switch {
	case err != nil:
		err = lost(err)
	case a.refusal != nil && a.refusal.Gone():
		return actions.Done{}, &actions.ChangedError{What: backend.Text("the platform has no such token any more")}
	case a.refusal != nil:
		err = c.refusedByPlatform(a.refusal)
	}
	if err != nil && !uncertain(err) {
		return actions.Done{}, err
	}
	for end := c.factory.now().Add(c.factory.ends); ; {
		names, whole := c.tokens(ctx, tokens)
		switch {
		case whole && !slices.Contains(names, name):
			return actions.Done{Proved: true, Text: backend.Text("the platform lists the token no more")}, nil
		case !c.factory.now().After(end) && sleep(ctx, c.factory.ends/16):
			continue
		case whole && err != nil:
			return actions.Done{}, fmt.Errorf("not removed: %w, and it still lists the token, which opens the preview: plan it again", errors.Unwrap(err))
		case whole:
			return actions.Done{}, errors.New("the platform accepted it and still lists the token, which opens the preview: try again, or remove the preview")
		}
		return actions.Done{Text: backend.Text("the platform accepted it")}, err
	}
}

// tokens are the names of the tokens of a preview; whole reports whether all could be read.
func (c *client) tokens(ctx context.Context, path string) (names []string, whole bool) {
	a, err := c.control(ctx, http.MethodGet, path)
	if err != nil || a.refusal != nil {
		return nil, false
	}
	return tokenNames(a.body)
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
