package backend

import (
	"encoding/json"
	"strings"
)

// GraphQLErrors are the first messages of the errors in a GraphQL answer, which comes with status 200, and whether one of them says
// that the credential may not read what was asked for. An answer that is no such JSON has none.
func GraphQLErrors(body []byte) (words []string, denied bool) {
	var answer struct {
		Errors []struct {
			Message    any `json:"message"`
			Extensions any `json:"extensions"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil, false
	}
	for _, e := range answer.Errors {
		text, _ := e.Message.(string)
		more, _ := e.Extensions.(map[string]any)
		low := strings.ToLower(text)
		denied = denied || more["code"] == "authz" || more["code"] == "authn" || strings.Contains(low, "permission") || strings.Contains(low, "not authorized") || strings.Contains(low, "unauthorized")
		if text != "" && len(words) < 3 {
			words = append(words, text)
		}
	}
	return words, denied
}
