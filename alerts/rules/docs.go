package rules

import (
	"embed"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// texts are the page of each rule.
//
//go:embed *.md
var texts embed.FS

func mustRead(name string) string {
	b, err := texts.ReadFile(name)
	if err != nil {
		panic("embedded text: " + err.Error()) // a test reads them all
	}
	return string(b)
}

var numbered = regexp.MustCompile(`(?m)^\d+\. `)

// page reads what the Markdown file beside a rule's Go file says about it.
func page(name string) (summary string, e alerts.Explain) {
	parts := strings.Split(mustRead(strings.ReplaceAll(name, "-", "_")+".md"), "\n## ")
	_, summary, _ = strings.Cut(parts[0], "\n")
	sections := map[string]*string{"Fires when": &e.Means, "Needs": &e.Inputs, "When data is missing": &e.Missing, "Limits": &e.Limits, "Runbook": &e.Runbook}
	for _, part := range parts[1:] {
		title, body, _ := strings.Cut(part, "\n")
		if into := sections[title]; into != nil {
			*into = oneLine(body)
			continue
		}
		for _, step := range numbered.Split(body, -1)[1:] {
			e.First = append(e.First, oneLine(step))
		}
	}
	return oneLine(summary), e
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Option is one key of a rule's table.
type Option struct{ Key, Default, Doc string }

// OptionList lists the keys of an option struct, the common ones last.
func OptionList(o Options) []Option {
	return fields(reflect.ValueOf(o).Elem())
}

func fields(v reflect.Value) []Option {
	var own, shared []Option
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous {
			shared = append(shared, fields(v.Field(i))...)
			continue
		}
		own = append(own, Option{Key: f.Tag.Get("toml"), Default: value(v.Field(i)), Doc: f.Tag.Get("doc")})
	}
	return append(own, shared...)
}

// value writes a default as the configuration file would.
func value(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case backend.Duration:
		return quoted(x)
	case backend.Size:
		return quoted(x)
	case alerts.Severity:
		return `"` + string(x) + `"`
	case alerts.GapPolicy:
		return `"` + string(x) + `"`
	case string:
		return `"` + x + `"`
	case []string:
		var parts []string
		for _, t := range x {
			parts = append(parts, strconv.Quote(t))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

func quoted(x interface{ MarshalText() ([]byte, error) }) string {
	b, err := x.MarshalText()
	if err != nil {
		return err.Error()
	}
	return `"` + string(b) + `"`
}
