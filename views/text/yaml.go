package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sandglass/backend"
	"sandglass/views"
)

// WriteYAML prints the document that WriteJSON prints, as YAML.
func WriteYAML[T any](w io.Writer, document T) error {
	raw, err := views.JSON(document)
	if err != nil {
		return err
	}
	out, err := yamlOf(raw)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// yamlOf writes a JSON document as YAML, with its keys in their order.
func yamlOf(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := yamlNode(d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(n), e.Close()); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, r := range b.String() { // unsafe characters are in double quotes only, where escapes hold
		switch {
		case r == '\n' || !backend.Unsafe(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes(), nil
}

// yamlNode reads the next value.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if t == '[' {
			n.Kind = yaml.SequenceNode
		}
		for d.More() {
			kid, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, kid)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err := d.Token() // the closing bracket
		return n, err
	case string:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t}
		if !plainText.MatchString(t) || slices.Contains(yamlWords[:], strings.ToLower(t)) {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	default: // numbers and truth values are written as JSON writes them
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(t)}, nil
	}
}

// plainText needs no quotes in any version of YAML, unless it is one of yamlWords.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./(][A-Za-z0-9_./()-]*)*$`)

var yamlWords = [...]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
