package wire_test

import (
	"io"
	"net/http"
	"testing"

	"sandglass/backend/wire"
)

// TestOnlyAQueryIsSentByPost holds the one way in which reading sends a POST: to one path, of one query, with its values apart.
func TestOnlyAQueryIsSentByPost(t *testing.T) {
	var asked []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Authorization")+" "+string(b))
		_, _ = w.Write([]byte(`{"data":{}}`))
	})
	c := client(t, wire.Config{Origins: []string{url + "/client/v4/"}, Credential: wire.Credential{Env: "TOKEN", Header: "Authorization"}}, deps())
	for _, q := range []wire.Query{"", "mutation X { deleteAll }", "query X { a } mutation Y { b }", "{ a }", " query X { a }", "subscription X { a }", "query X { a } query Y { b }"} {
		if r, err := c.ReadGraphQL(t.Context(), q, nil); err == nil || r != nil || len(asked) > 0 {
			t.Errorf("%q was sent: %v %v", q, err, asked)
		}
	}
	r, err := c.ReadGraphQL(t.Context(), "query X($a: string!) { a }", map[string]any{"a": "mutation \" } {"})
	if err != nil || string(r.Body) != `{"data":{}}` {
		t.Fatal(r, err)
	}
	if want := `POST /client/v4/graphql application/json Bearer tok-123456789 {"query":"query X($a: string!) { a }","variables":{"a":"mutation \" } {"}}`; len(asked) != 1 || asked[0] != want {
		t.Errorf("%q\nwant %q", asked, want)
	}
	if r, err := client(t, wire.Config{}, deps()).ReadGraphQL(t.Context(), "query X { a }", nil); err == nil {
		t.Errorf("a client without an origin asked: %v", r)
	}
}
