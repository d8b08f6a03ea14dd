package config_test

import (
	"reflect"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/config"
)

func withViews() config.Catalog {
	c := known()
	c.CheckView = func(v config.View) (string, string) {
		if v.Screen == "nosuch" {
			return "screen", "is no screen"
		}
		return "", ""
	}
	return c
}

func TestViewsOfTheFile(t *testing.T) {
	const file = "[[view]]\nname = \"mine\"\nscreen = \"sandboxes\"\nfilter = \"state:failed\"\nsort = \"-age\"\ncolumns = [\"image\", \"-cpu\"]\nwide = true\n[[view]]\nname = \"other\"\nscreen = \"alerts\"\n"
	c, err := config.Parse([]byte(file), "f.toml", withViews())
	want := []config.View{{Name: "mine", Screen: "sandboxes", Filter: "state:failed", Sort: "-age", Columns: []string{"image", "-cpu"}, Wide: true}, {Name: "other", Screen: "alerts"}}
	if err != nil || !reflect.DeepEqual(c.Views, want) {
		t.Fatalf("%v, %v", c, err)
	}
	shown, err := c.Show(withViews(), backend.NewCleaner())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := config.Parse([]byte(shown), "f.toml", withViews()); err != nil || !reflect.DeepEqual(again.Views[0], want[0]) {
		t.Errorf("%v in\n%s", err, shown)
	}
}

func TestWrongViewsOfTheFile(t *testing.T) {
	for file, want := range map[string]string{
		"[[view]]\nname = \"a\"\nscreen = \"nosuch\"": `3:10: "screen" in [[view]] number 1: is no screen`,
		"[[view]]\nnmae = \"a\"":                      `2:1: unknown key "nmae"`,
		"view = 1":                                    `1:1: "view" must be a list of tables, not a whole number; write [[view]]`,
		"[[view]]\nname = \"a\"\nscreen = \"x\"\n[[view]]\nname=\"a\"\nscreen=\"x\"": `5:6: "name" in [[view]] number 2: there is a view "a" already, in line 1`,
	} {
		_, err := config.Parse([]byte(file), "f.toml", withViews())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
}

// [ui] has a theme that the console knows, and says which there are.
func TestTheme(t *testing.T) {
	known := config.Catalog{Themes: []string{"default", "none"}}
	for text, want := range map[string]string{
		"": "", "[ui]\ntheme = \"none\"": "", "[ui]\ntheme = \"nones\"": `2:9: "ui.theme" in the file: "nones" is not a theme; did you mean "none"?`,
		"[ui]\nthem = \"none\"": `2:1: unknown key "them" in the file [ui]; did you mean "theme"?`,
	} {
		c, err := config.Parse([]byte(text), "f", known)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		case want == "" && (c.UI.Theme == "none") != (text != ""):
			t.Errorf("%q: %+v", text, c.UI)
		}
	}
}
