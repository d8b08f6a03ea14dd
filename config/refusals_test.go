package config_test

import (
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/config"
)

// TestSyntaxErrorsComeAlone: what follows one is not what was meant. Characters of word processors are named.
func TestSyntaxErrorsComeAlone(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"[[source]]\nid = “d”\nkind = \"docker\"\nfoo = 1", `2:6: this is not valid TOML: '“' is a left double quotation mark (U+201C); write "`},
		{"[[source]]\nid = \"d”\nkind = \"docker\"", `2:8: this is not valid TOML: '”' is a right double quotation mark (U+201D); write "`},
		{"[[source]]\nid = ‘d’", `2:6: this is not valid TOML: '‘' is a left single quotation mark (U+2018); write "`},
		{"[[source]]\nid\u00a0= \"d\"", `2:3: this is not valid TOML: '\u00a0' is a no-break space (U+00A0); write an ordinary space`},
		{"environment = \"X Y\"\n[[source]\nid = \"d\"", `2:9: this is not valid TOML: expected ']]' to close array table name`},
		{"[[source]]\nid = \"d\nkind = \"docker\"\nintervall = 5", `2:8: this is not valid TOML: basic strings cannot have new lines`},
	} {
		_, err := config.Parse([]byte(c.file), "f.toml", acting())
		if err == nil || strings.ReplaceAll(err.Error(), "f.toml:", "") != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.file, err, c.want)
		}
	}
}

// TestRelativePathsAreRefused: a console and a job of cron would mean different files by them.
func TestRelativePathsAreRefused(t *testing.T) {
	for file, want := range map[string]string{
		"state_dir = \"state\"":         `1:13: "state_dir" in the file: "state" is a relative path; write it from / on, since Sandglass runs in different directories`,
		"state_dir = \"~/state\"":       "",
		"state_dir = \"/var/lib/sand\"": "",
	} {
		_, err := config.Parse([]byte(file), "f.toml", acting())
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), "f.toml:", "")
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", file, got, want)
		}
	}
}

// TestCredentialsThatAreMissingOrInPlain: a variable that is not set, and who sees what goes over plain http.
func TestCredentialsThatAreMissingOrInPlain(t *testing.T) {
	file := `[[source]]
id = "h"
kind = "helix"
url = "http://10.0.0.9/healthz"
actions = ["reset"]
[source.read]
env = "READ"
[source.act]
env = "ACT"
[source.reset]
url = "http://Agents.example:8080/reset"
`
	parse := func(file string) config.Source {
		c, err := config.Parse([]byte(file), "f.toml", acting())
		if err != nil {
			t.Fatal(err)
		}
		return c.Sources[0]
	}
	c, err := config.Parse([]byte(file), "f.toml", acting())
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	if got := c.Unset(none); len(got) != 1 || got[0].Error() != `f.toml:7:7: "read.env" in [[source]] "h": the environment variable READ is not set` {
		t.Errorf("%v", got)
	}
	if got := c.Unset(func(string) string { return "x" }); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if got := config.UnsetActing(c.Sources[0].ActionOptions, none); got != "ACT" {
		t.Errorf("acting: %q", got)
	}
	if s := c.Sources[0]; s.ReadsInPlain() != "10.0.0.9" || s.ActsInPlain() != "agents.example" {
		t.Errorf("%q, %q", s.ReadsInPlain(), s.ActsInPlain())
	}
	for _, safe := range []string{"https://10.0.0.9", "http://127.0.0.1:80", "http://localhost", "http://[::1]:1"} {
		s := parse(strings.NewReplacer("http://10.0.0.9", safe, "http://Agents.example:8080", safe).Replace(file))
		if s.ReadsInPlain() != "" || s.ActsInPlain() != "" {
			t.Errorf("%s: %q, %q", safe, s.ReadsInPlain(), s.ActsInPlain())
		}
	}
	if s := parse("[[source]]\nid = \"h\"\nkind = \"helix\"\nurl = \"http://10.0.0.9/healthz\""); s.ReadsInPlain() != "" {
		t.Error("without a credential there is nothing to see")
	}
}

// TestShowMasksSecretsInAddresses: user, password, parameters named like a secret, and long keys; not what only names a route.
func TestShowMasksSecretsInAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://h.example/metrics?pw=SEKRETT13&a=b":     "https://h.example/metrics?pw=‹masked›&a=b",
		"https://user:pw@h.example/x?a=b":                "https://‹masked›@h.example/x?a=b",
		"https://ghp@h.example/":                         "https://‹masked›@h.example/",
		"https://h.example/x?sig=abc&page=2":             "https://h.example/x?sig=‹masked›&page=2",
		"https://h.example/x?X-Amz-Signature=0f&key=k":   "https://h.example/x?X-Amz-Signature=‹masked›&key=‹masked›",
		"https://h.example/hook/T00B11/x9Fq2LmZ81kQpR5t": "https://h.example/hook/T00B11/x9Fq2LmZ81kQpR5t",
		"https://h.example/hook/x9Fq2LmZ81kQpR5tWv30yB":  "https://h.example/hook/‹masked›",
		"https://h.example/healthz/{session}?of={sess}":  "https://h.example/healthz/{session}?of={sess}",
		"https://very-long-name-of-a-host-0123456789.h/": "https://very-long-name-of-a-host-0123456789.h/",
	} {
		c, err := config.Parse([]byte("[[source]]\nid = \"h\"\nkind = \"helix\"\nurl = \""+address+"\"\n"), "f.toml", acting())
		if err != nil {
			t.Fatal(err)
		}
		shown, err := c.Show(acting(), backend.NewCleaner())
		if err != nil || !strings.Contains(shown, "url = \""+want+"\"\n") {
			t.Errorf("%s is shown as\n%s%v", address, shown, err)
		}
	}
}
