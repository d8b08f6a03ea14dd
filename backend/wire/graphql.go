package wire

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"sandglass/backend"
)

// Query is a GraphQL document that reads. It stands in the code as it is; values go into its variables.
type Query string

// errNotReading is about a document that could do more than read.
var errNotReading = errors.New("only a GraphQL document that is one query is sent to read")

// reads reports whether a document is one query: GraphQL marks what changes something with the word mutation.
func (q Query) reads() bool {
	low := strings.ToLower(string(q))
	return strings.HasPrefix(low, "query ") && !strings.Contains(low, "mutation") && !strings.Contains(low, "subscription") && strings.Count(low, "query ") == 1
}

// ReadGraphQL asks a GraphQL endpoint, which takes queries as POST only: /graphql below the first origin of the client, and no
// other path. Like Get it changes nothing.
func (c *Client) ReadGraphQL(ctx context.Context, q Query, variables map[string]any) (*Response, error) {
	if len(c.cfg.Origins) == 0 || !q.reads() {
		return nil, c.fail(backend.ErrInvalid, "", errNotReading)
	}
	body, err := json.Marshal(struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}{string(q), variables})
	if err != nil {
		return nil, c.fail(backend.ErrInvalid, "", err)
	}
	return c.send(ctx, http.MethodPost, Request{URL: strings.TrimRight(c.cfg.Origins[0], "/") + "/graphql", Header: http.Header{"Content-Type": {"application/json"}}}, body)
}
