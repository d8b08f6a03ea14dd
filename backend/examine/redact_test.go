package examine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
)

type someFields struct{}

func (someFields) KnownFields() (known, data []string) {
	return []string{"Config", "Labels", "Image", "LogConfig", "HostConfig", "Networks", "State"}, []string{"Config.Labels", "LogConfig.Config", "HostConfig.Networks"}
}

// A map is told from an object of the same name by the field that holds it: fields of Config are named, keys of labels are not.
func TestKeysOfMapsAreMaskedAndFieldsAreNamed(t *testing.T) {
	x := &examination{deps: backend.Deps{Cleaner: backend.NewCleaner()}, fields: someFields{}}
	red, names := newRedactor(x), &fieldNames{}
	var v any
	if err := json.Unmarshal([]byte(`{"Config":{"Image":"agent:1","FutureField":1,"Labels":{"token":"a","Image":"b"}},"HostConfig":{"LogConfig":{"Config":{"zone":"x"}},"Networks":{"ann":{"Labels":1}}},"State":{"NewThing":true}}`), &v); err != nil {
		t.Fatal(err)
	}
	red.names("", v, names)
	known, unknown := names.list(x)
	if got := backend.Join(unknown, " ").String(); got != "Config.FutureField State.NewThing" {
		t.Errorf("unknown: %s", got)
	}
	for _, want := range []string{"Config.Image", "Config.Labels", "HostConfig.LogConfig.Config"} {
		if !slices.ContainsFunc(known, func(s backend.Safe) bool { return s.String() == want }) {
			t.Errorf("%s is not known: %v", want, known)
		}
	}
	b, err := json.Marshal(red.value("", v))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"token", "zone", "ann", "agent:1"} {
		if strings.Contains(string(b), key) {
			t.Errorf("the sample holds %q: %s", key, b)
		}
	}
	for _, field := range []string{"FutureField", "Image", "NewThing"} {
		if !strings.Contains(string(b), field) {
			t.Errorf("the sample has no %s: %s", field, b)
		}
	}
}
