package filter_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/views/filter"
)

type row map[string]string

func (r row) Field(name string) (string, bool) { v, ok := r[name]; return v, ok }
func (r row) Text() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, r[k])
	}
	return strings.Join(parts, " ")
}

func TestMatch(t *testing.T) {
	r := row{"id": "s1/Build Cache", "state": "failed", "age": "1h12m", "size": "64MB", "rate": "0.5/s", "share": "40 %",
		"seconds": "4320", "owner": "", "host": "zürich", "trick": backend.Clean("\u202egnp.exe", 100).String()}
	for _, c := range []struct {
		filter string
		want   bool
	}{
		{"", true},
		{"build", true},
		{"BUILD cache", true},
		{"build missing", false},
		{"!missing", true},
		{"!build", false},
		{`"build cache"`, true},
		{`"cache build"`, false},
		{"'Build Cache'", true},
		{"state:fail", true},
		{"state=fail", false},
		{"state=FAILED", true},
		{"state!=failed", false},
		{"state!=opening", true},
		{"!state=failed", false},
		{"STATE:failed", true},
		{"nosuch:x", false},
		{"!nosuch:x", true},
		{"owner:", false},
		{"owner=", true},
		{"state:", true},
		{"age>1h", true},
		{"age>1h12m", false},
		{"age>=1h12m", true},
		{"age<2d", true},
		{"age<=72m", true},
		{"age>10MB", false}, // an age is no size
		{"seconds>1h", true},
		{"size>=64MB", true},
		{"size<64MB", false},
		{"size>60", true},
		{"rate>0.4", true},
		{"share<50%", true},
		{"state>5", false},
		{"zÜrich", true},
		{"host:ÜR", true},
		{`trick:"\u202egnp"`, true},
		{`id="s1/build cache"`, true},
		{"age>1h state=failed !x86", true},
		{"bbuild", false},
		{"state~fail", true},
		{"state~^(FAILED|evicted)$", true},
		{"state~^ail", false},
		{"!state~fail", false},
		{`id~"build c.che$"`, true},
		{"nosuch~x", false},
		{"owner~^$", true},
		{"zürich!", false}, // a name has only ASCII letters: this is a word
		{":8080", false},
		{"~/src", false},
	} {
		f, err := filter.Parse(c.filter)
		if err != nil {
			t.Errorf("%s: %v", c.filter, err)
			continue
		}
		if got := f.Match(r); got != c.want {
			t.Errorf("%s: got %v, want %v", c.filter, got, c.want)
		}
	}
}

type measured struct{ row }

func (m measured) Measure(name string) (float64, bool) { return 5399, name == "age" }

// TestMeasured holds that comparisons use the number behind a coarse text.
func TestMeasured(t *testing.T) {
	r := measured{row{"age": "1h", "state": "failed"}}
	for text, want := range map[string]bool{"age>1h": true, "age<90m": true, "age>=5399": true, "age=1h": true, "state>1": false} {
		f, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(r); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		filter   string
		position int
		part     string
	}{
		{"stat:failed", 1, "did you mean state? The fields are id, state, age"},
		{"colour:red", 1, `no field "colour" here. The fields are id`},
		{"x  !stat=failed", 5, `no field "stat"`},
		{"!", 1, "a word is missing"},
		{"age>", 5, "an age, a size or a number"},
		{"ü age>ten", 7, "an age, a size or a number"},
		{`state:"fai`, 7, "not closed"},
		{`"a"b`, 4, "space after"},
		{`"\q"`, 1, "escapes of JSON"},
		{"http://x", 1, "quote it"},
		{"state==failed", 6, `no operator "=="`},
		{"x age=>5m", 6, `no operator "=>". Write one of : = != ~ > >= < <=`},
		{"state:~x", 6, `no operator ":~"`},
		{"age≥5m", 4, `no operator "≥"`},
		{"state*", 6, `no operator "*"`},
		{"state|id", 6, `no operator "|"`},
		{"ready | failed", 7, `the operator "|" needs a field`},
		{"age > 5m", 5, `the operator ">" needs a field`},
		{"age >5m", 5, `the operator ">" needs a field`},
		{"!=failed", 2, `the operator "=" needs a field`},
		{"ready ~fail", 7, `the operator "~" needs a field`},
		{":latest", 1, `the operator ":" needs a field`},
		{"!!failed", 2, `the operator "!" needs a field`},
		{"ü *fail", 3, `the operator "*" needs a field`},
		{":~/src", 1, `the operator ":~" needs a field`},
		{"state~=x", 6, `no operator "~="`},
		{"state~(a", 7, "missing closing )"},
		{"ü state~", 9, "a pattern is missing"},
		{"state~" + strings.Repeat("a", 201), 7, "at most 200 bytes"},
	} {
		_, err := filter.Parse(c.filter, "id", "state", "age")
		var e *filter.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got error %v, want a *filter.Error", c.filter, err)
			continue
		}
		if e.Position != c.position || !strings.Contains(e.Error(), c.part) {
			t.Errorf("%s: got position %d, %q, want position %d and %q", c.filter, e.Position, e, c.position, c.part)
		}
	}
}

// FuzzParse holds that no input panics, that errors point into the text, and that a quoted word finds itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a b", "state:failed !x", `id="\u202e"`, "age>1h30m", "'", `"`, "!", "a!=b", "x>=1.2.3", "state~^(a|b)+$", "id~[", "age≥1", "state~\\p{L}{9}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := filter.Parse(s, "id", "state", "age")
		if err != nil {
			var e *filter.Error
			if !errors.As(err, &e) || e.Position < 1 || e.Position > len(s)+1 {
				t.Fatalf("%q: bad error %v", s, err)
			}
			return
		}
		p.Match(row{"id": s, "state": s, "age": s})
		if s = strings.Trim(s, " \t'"); s != "" && !strings.Contains(s, "'") {
			own, err := filter.Parse("'" + s + "'")
			if err != nil || !own.Match(row{"id": backend.Clean(s, backend.MaxTextRunes).String()}) {
				t.Fatalf("%q does not find itself: %v", s, err)
			}
		}
	})
}

type tableRow struct{ id, state, age, text string }

func (r *tableRow) Field(name string) (string, bool) {
	switch name {
	case "id":
		return r.id, true
	case "state":
		return r.state, true
	case "age":
		return r.age, true
	}
	return "", false
}
func (r *tableRow) Text() string { return r.text }

func BenchmarkMatch100k(b *testing.B) {
	rows := make([]tableRow, 100_000)
	for i := range rows {
		id := fmt.Sprintf("session-%06d/workspace-%d", i/3, i%3)
		rows[i] = tableRow{id, "ready", "12m", id + " ready docker 12m 3s Eu-West tenant-" + fmt.Sprint(i%40)}
	}
	for _, s := range []string{"session-099", "zebra", "state=failed", "age>10m", "docker !tenant-7 state:ready"} {
		b.Run(strings.ReplaceAll(s, " ", "_"), func(b *testing.B) {
			f, err := filter.Parse(s)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for i := range rows {
					f.Match(&rows[i])
				}
			}
		})
	}
}
