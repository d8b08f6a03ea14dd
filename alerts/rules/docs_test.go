package rules

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"sandglass/alerts"
	"sandglass/backend"
)

// document writes docs/alerts.md from the rules' pages and options.
func document() string {
	type rule struct {
		Kind
		Meta    *alerts.Meta
		Options []Option
		For     string
	}
	shared := fields(reflect.ValueOf(Common{}))
	for i, o := range shared {
		if d, own := map[string]string{"enabled": "true", "gap": `"pause"`, "severity": "", "for": ""}[o.Key]; own {
			shared[i].Default = d // the zero value is no rule's default; severity and for stand with each rule
		}
	}
	var all []rule
	for _, k := range Kinds() {
		own := slices.DeleteFunc(OptionList(k.Defaults()), func(o Option) bool { return isShared(shared, o.Key) })
		r := rule{Kind: k, Meta: metaOf(k), Options: own}
		if r.Meta.For > 0 {
			r.For = text(r.Meta.For)
		}
		all = append(all, r)
	}
	funcs := template.FuncMap{"needs": needsText, "registry": registryOnly, "short": saidOnce.Replace}
	var b strings.Builder
	err := template.Must(template.New("alerts.md").Funcs(funcs).Parse(read("testdata/alerts.md.tmpl"))).
		Execute(&b, map[string]any{"Rules": all, "Common": shared})
	if err != nil {
		panic("template of docs/alerts.md: " + err.Error()) // a test executes it
	}
	return b.String()
}

// saidOnce leaves out what the page says once for all rules.
var saidOnce = strings.NewReplacer(
	" A session that does not run is judged only if its newest attempt is dated and at most an hour old.", "",
	"state, lastError, lastAttemptAt and lastSuccessAt of the workspace registries", "Workspace registries",
	"state, lastError, lastAttemptAt and lastSuccessAt of the registries", "Workspace registries",
	"state, lastAttemptAt and lastSuccessAt of the workspace registries", "Workspace registries",
	"state and lastError of the workspace registries", "Workspace registries",
	"state and lastError of the registries", "Workspace registries",
	"Held while the source is down. ", "", " Held while the source is down.", "",
	"Held while the platform does not answer. ", "", "Held while the platform does not answer.", "",
	"Held while the hub does not answer. ", "",
	"Held while the log source is down, and after 10 lines within `over` while its session runs and the log stops growing.", "",
	"Held while the source is down or the workspace cannot be read. ", "",
	"Held while the engine does not answer. ", "",
	" Not evaluated without a log.", "",
	" Without a log source the rule is not evaluated: Helix writes no log lines unless a Logger is configured.", "",
	" Lines at level info or below do not count; quoted words and tool output are pending at most.", "",
	" Log lines at level info or below do not count; quoted words and tool output are pending at most.", "",
	" If the retry counter counts attempts, recovery looks better than it is.", "",
	" (0 to 1)", "", " (0 to 1; ", " (")

// isShared reports whether a key is one that every rule has.
func isShared(shared []Option, key string) bool {
	return slices.ContainsFunc(shared, func(o Option) bool { return o.Key == key })
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

// registryOnly reports whether the text of a rule's inputs names its only required one first, as the page says once.
func registryOnly(inputs string, needs [][]backend.Input) bool {
	return strings.HasPrefix(saidOnce.Replace(inputs), "Workspace registries") && needsText(needs) == string(backend.InputRegistry)
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
