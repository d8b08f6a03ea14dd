package config_test

import (
	"reflect"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/config"
)

func withKeys() config.Catalog {
	c := known()
	c.KeyPlaces = []config.KeyPlace{
		{Name: "everywhere", Intents: []config.KeyIntent{{Name: "help", Help: "this help", Keys: []string{"?"}}, {Name: "quit", Help: "quit", Keys: []string{"q"}, InPalette: true}, {Name: "show", Help: "show", Keys: []string{"v"}}}},
		{Name: "table", Intents: []config.KeyIntent{{Name: "sort", Help: "sort", Keys: []string{"s"}, InPalette: true}, {Name: "mark", Help: "mark", Keys: []string{"m"}}, {Name: "hide", Help: "hide", Keys: []string{"v"}}}},
		{Name: "filter", Typing: true, Intents: []config.KeyIntent{{Name: "accept", Help: "accept", Keys: []string{"enter"}}}},
	}
	c.BadKey = func(text string, typing, _ bool) string {
		if typing && len(text) == 1 {
			return "is text here"
		}
		return ""
	}
	return c
}

func TestKeysOfTheFile(t *testing.T) {
	c, err := config.Parse([]byte("[keys.table]\nsort = [\"o\", \"O\"]\nhide = [\"v\"]\nmark = [\"s\"]\n[keys.everywhere]\nquit = []"), "f.toml", withKeys())
	want := map[string]map[string][]string{"table": {"sort": {"o", "O"}, "hide": {"v"}, "mark": {"s"}}, "everywhere": {"quit": {}}}
	if err != nil || !reflect.DeepEqual(c.Keys, want) {
		t.Fatalf("%v, %v", c, err)
	}
	shown, err := c.Show(withKeys(), backend.NewCleaner())
	if err != nil || !strings.Contains(shown, "\n[keys.everywhere]\nquit = []\n\n[keys.table]\nsort = [\"o\", \"O\"]\nmark = [\"s\"]\nhide = [\"v\"]\n") {
		t.Errorf("%v\n%s", err, shown)
	}
}

func TestWrongKeysOfTheFile(t *testing.T) {
	for file, want := range map[string]string{
		"keys = 1":                                                        `1:8: "keys" must be a table, not a whole number; write [keys.PLACE]`,
		"[keys.tabel]\nsort = []":                                         `1:7: there is no place "tabel" for keys; did you mean "table"?`,
		"[keys]\ntable = 1":                                               `2:9: "table" must be a table, not a whole number; write [keys.table]`,
		"[keys.table]\nsrot = [\"o\"]":                                    `2:1: there is no intent "srot" in [keys.table]; did you mean "sort"?`,
		"[keys.table]\nsort = \"o\"":                                      `2:8: "sort" in [keys.table] must be a list of keys, not text`,
		"[keys.table]\nmark = []":                                         `2:8: "mark" in [keys.table] needs a key: the palette does not have it`,
		"[keys.table]\nsort = [7]":                                        `2:9: "sort" in [keys.table]: a key must be text, not a whole number`,
		"[keys.filter]\naccept = [\"a\"]":                                 `2:11: "accept" in [keys.filter]: is text here`,
		"[keys.table]\nsort = [\"o\", \"m\"]":                             `2:14: "m" is the key of "mark" in [keys.table] already: a key has one meaning in a place`,
		"[keys.table]\nmark = [\"s\"]":                                    `2:9: "s" is the key of "sort" in [keys.table] already: a key has one meaning in a place`,
		"[keys.table]\nsort = [\"o\", \"o\"]":                             `2:14: "o" is the key of "sort" in [keys.table] already: a key has one meaning in a place`,
		"[keys.table]\nsort = [\"q\"]":                                    `2:9: "q" is the key of "quit" in [keys.everywhere] already: a key has one meaning in a place`,
		"[keys.everywhere]\nquit = [\"s\"]":                               `2:9: "s" is the key of "sort" in [keys.table] already: a key has one meaning in a place`,
		"[keys.everywhere]\nquit = [\"enter\"]":                           "", // the filter line takes enter as it always did
		"[keys.everywhere]\nquit = [\"Q\"]\n[keys.table]\nsort = [\"q\"]": "",
	} {
		_, err := config.Parse([]byte(file), "f.toml", withKeys())
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), "f.toml:", "")
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", file, got, want)
		}
	}
}
