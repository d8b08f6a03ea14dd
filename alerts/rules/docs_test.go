package rules

import (
	"os"
	"sandglass/alerts"
	"sandglass/backend"
	"strings"
	"text/template"
)

// document writes docs/alerts.md from the rules' pages and options.
func document() string {
	type rule struct {
		Kind
		Meta    *alerts.Meta
		Options []Option
	}
	var all []rule
	for _, k := range Kinds() {
		all = append(all, rule{k, metaOf(k), OptionList(k.Defaults())})
	}
	funcs := template.FuncMap{"inc": func(i int) int { return i + 1 }, "needs": needsText}
	var b strings.Builder
	err := template.Must(template.New("alerts.md").Funcs(funcs).Parse(read("testdata/alerts.md.tmpl"))).
		Execute(&b, map[string]any{"Rules": all, "Figures": read("testdata/figures.md") + "\n" + read("testdata/figures-sizes.md")})
	if err != nil {
		panic("template of docs/alerts.md: " + err.Error()) // a test executes it
	}
	return b.String()
}

// needsText names the inputs without which a rule is blind.
func needsText(needs [][]backend.Input) string {
	var groups []string
	for _, g := range needs {
		var inputs []string
		for _, in := range g {
			inputs = append(inputs, string(in))
		}
		groups = append(groups, strings.Join(inputs, " or "))
	}
	return strings.Join(groups, "; and ")
}

func metaOf(k Kind) *alerts.Meta {
	r, err := k.New(k.Defaults())
	if err != nil || r == nil {
		panic("the defaults of " + k.Name + " do not build") // a test builds them all
	}
	return r.Meta()
}

func read(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(b)
}
