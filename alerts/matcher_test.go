package alerts

import (
	"strings"
	"testing"
)

func TestMatchersInAlertmanagersSyntax(t *testing.T) {
	labels := map[string]string{LabelRule: "failed-too-long", LabelSource: "helix-eu", LabelSeverity: "warning", LabelCause: `a "quoted" cause`}
	for text, want := range map[string]bool{
		`rule="failed-too-long"`: true,
		`rule=failed-too-long`:   true,
		`rule="failed-too-long", source=~"helix-.*", severity!="info"`: true,
		`{rule="failed-too-long",source=~"helix-.*",}`:                 true,
		` { severity =~ "warning|critical" } `:                         true,
		`source=~"helix"`:                                              false, // anchored
		`source=~"elix-eu"`:                                            false,
		`source!~"helix"`:                                              true,
		`source!~"helix-.*"`:                                           false,
		`source=~"docker|helix-eu"`:                                    true, // the alternatives are anchored together
		`source=~"docker|elix-eu"`:                                     false,
		`source=~"helix|docker"`:                                       false,
		`source=~"docker|helix"`:                                       false,
		`severity!="warning"`:                                          false,
		`cause="a \"quoted\" cause"`:                                   true,
		`cause=~"a \"quoted\\\".*"`:                                    true,
		`cause=~"a \Wquoted\W \w+"`:                                    true, // as Alertmanager: a backslash that changes nothing stays
		`cause=~"a \d+ cause"`:                                         false,
		`"rule"="failed-too-long","severity"=warning`:                  true,  // names may be quoted, since Alertmanager 0.27
		`tenant="acme"`:                                                false, // absent labels never match
		`tenant!="acme"`:                                               false,
		`tenant=~".*"`:                                                 false,
		`tenant!~"acme"`:                                               false,
		`rule="failed-too-long", tenant!="acme"`:                       false,
		`rule="failed-too-long", rule=~"hammered.*", source=~"helix-(eu)"`: false,
	} {
		ms, err := ParseMatchers(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := ms.Match(labels); got != want {
			t.Errorf("%s matches %v", text, got)
		}
		if again, err := ParseMatchers(ms.String()); err != nil || again.String() != ms.String() || again.Match(labels) != want {
			t.Errorf("%s written as %s: %v", text, ms, err)
		}
	}
}

func TestWrongMatchersSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		``:                              "no matcher",
		`{}`:                            "no matcher",
		`{rule="x"`:                     "do not end with }",
		`rule`:                          "one of =, !=, =~ and !~",
		`="x"`:                          "a label, an operator and a value",
		`alertname="x"`:                 "no alert has a label alertname",
		`rule=""`:                       "has no value",
		`rule="x`:                       "quotes of the value of rule do not close",
		`"rule="x"`:                     "no alert has a label rule=;",
		`"rule`:                         "quotes of a label do not close",
		`rule='x'`:                      "in double quotes",
		`rule == "x"`:                   "in double quotes",
		`rule="x\`:                      "quotes of the value of rule do not close",
		"rule=\"x\u202e\"":              "cannot be printed",
		"rule=\"\xff\"":                 "cannot be printed",
		`rule=~"("`:                     "not a regular expression",
		`rule="x" source="y"`:           "comma is missing",
		strings.Repeat(`rule="x",`, 21): "more than 20",
		strings.Repeat("x", 2001):       "longer than",
	} {
		if ms, err := ParseMatchers(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, %v; want %q", text, ms, err, want)
		}
	}
	if (Matchers{}).Match(map[string]string{"rule": "x"}) {
		t.Error("no matcher matches everything")
	}
}

func FuzzMatchers(f *testing.F) {
	f.Add(`rule="x", source=~"helix-.*", severity!="info"`)
	f.Add(`{cause!~"a\"\\d+"}`)
	f.Fuzz(func(t *testing.T, text string) {
		ms, err := ParseMatchers(text)
		if err != nil {
			return
		}
		if again, err := ParseMatchers(ms.String()); err != nil || again.String() != ms.String() {
			t.Errorf("%q is written as %q and that is read as %q: %v", text, ms, again, err)
		}
	})
}

func TestMatchersOfAFormerVersion(t *testing.T) {
	for text, want := range map[string]bool{`cause_fingerprint="v2:0123456789ab"`: true, `cause_fingerprint="v3:0123456789ab"`: false,
		`rule="x"`: false, `cause_fingerprint=~"v2:.*"`: false, `rule="x", cause_fingerprint="v1:0123456789ab"`: true} {
		ms, err := ParseMatchers(text)
		if err != nil || ms.Outdated() != want {
			t.Errorf("%s is outdated: %v, %v", text, ms.Outdated(), err)
		}
	}
}
