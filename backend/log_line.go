package backend

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sandglass/internal/stable"
)

// Names of the members of a log line or an error answer that say what happened, and of those that say least.
var (
	messageNames = [...]string{"msg", "message", "log", "event", "error", "err", "detail", "title"}
	leastNames   = [...]string{"level", "severity", "time", "timestamp", "ts", "@timestamp", "pid", "hostname", "v", "stream", "name", "stack", "err.stack", "error.stack"}
)

// mostMembers bounds what is read of one line, and maxDepth how deep.
const (
	mostMembers = 40
	maxDepth    = 4
)

// member is one field of a line; nested ones have dotted names.
type member struct{ name, value string }

// LogLine is a line of a log, or the body of an answer, as people read it: of a JSON object its message, then its fields.
// Other text stays as it is. The end of a line that was cut may be missing.
func (s Safe) LogLine(limit int) Safe {
	at := strings.IndexByte(s.s, '{')
	if at < 0 || !strings.HasPrefix(strings.TrimLeft(s.s[at+1:], " "), `"`) {
		return Clean(s.s, limit)
	}
	parts, read := sentenceOf(s.s[at:], 0)
	if len(parts) == 0 {
		return Clean(s.s, limit)
	}
	text := ""
	for n := len(parts); n > 0; n-- { // fields at the end go whole
		text = strings.TrimSpace(s.s[:at] + strings.Join(parts[:n], " ") + " " + strings.TrimSpace(s.s[at+read:]))
		if utf8.RuneCountInString(text) <= limit {
			break
		}
	}
	return (&Cleaner{}).Clean(text, limit) // escapes are gone: what they hid is masked
}

// sentenceOf is the message and the fields of the object that a text begins with, empty where it has none, and the length of
// the object.
func sentenceOf(object string, depth int) (parts []string, read int) {
	d := jsontext.NewDecoder(strings.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	all, whole := members(d, "", depth, nil)
	if len(all) == 0 {
		return nil, 0
	}
	if read = len(object); whole {
		read = int(d.InputOffset())
	}
	for _, name := range messageNames {
		if i := slices.IndexFunc(all, func(m member) bool { return m.name == name && m.value != "" }); i >= 0 {
			parts = append(parts, all[i].value)
			all = slices.Delete(all, i, i+1)
			break
		}
	}
	least := func(m member) int { return slices.Index(leastNames[:], m.name) }
	stable.Sort(all, func(a, b member) int { return least(a) - least(b) })
	for _, m := range all {
		parts = append(parts, m.name+"="+quoted(m.value))
	}
	return parts, read
}

// members reads the members of one object, and what there is of one that was cut: whole says that it was not.
func members(d *jsontext.Decoder, prefix string, depth int, out []member) (all []member, whole bool) {
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return out, false
	}
	for d.PeekKind() == '"' && len(out) < mostMembers {
		t, err := d.ReadToken()
		if err != nil {
			return out, false
		}
		name := prefix + t.String()
		if d.PeekKind() == '{' && depth < maxDepth {
			before := len(out)
			out, _ = members(d, name+".", depth+1, out)
			if i := slices.IndexFunc(out[before:], func(m member) bool { return m.name == name+".message" }); i >= 0 {
				out[before+i].name = name
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			rest := strings.TrimLeft(string(d.UnreadBuffer()), `: "`) // of a value that was cut
			return append(out, member{name, rest}), false
		}
		value := v.String()
		if v.Kind() == '"' {
			raw, _ := jsontext.AppendUnquote(nil, v)
			value = strings.TrimSpace(string(raw))
		}
		if strings.HasPrefix(value, `{"`) && depth < maxDepth { // a line within a line
			if parts, _ := sentenceOf(value, depth+1); len(parts) > 0 {
				value = strings.Join(parts, " ")
			}
		}
		out = append(out, member{name, value})
	}
	t, err := d.ReadToken()
	return out, err == nil && t.Kind() == '}'
}

// quoted is a value that can be told from the field after it.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \"\t\n") {
		return `"` + strings.ReplaceAll(s, `"`, `'`) + `"`
	}
	return s
}

// LogFields are the members of the JSON object in a line, nested ones under dotted names, at most 40, and the text before it;
// none where it holds no object.
func (s Safe) LogFields() (before Safe, fields []Field) {
	at := strings.IndexByte(s.s, '{')
	if at < 0 || !strings.HasPrefix(strings.TrimLeft(s.s[at+1:], " "), `"`) {
		return s, nil
	}
	d := jsontext.NewDecoder(strings.NewReader(s.s[at:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	all, _ := members(d, "", 0, nil)
	c := &Cleaner{} // escapes are gone: what they hid is masked
	for _, m := range all {
		fields = append(fields, Field{Name: Clean(m.name, MaxTextRunes), Value: c.Clean(m.value, MaxTextRunes)})
	}
	return Clean(strings.TrimSpace(s.s[:at]), MaxTextRunes), fields
}
