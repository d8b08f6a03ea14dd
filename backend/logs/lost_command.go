package logs

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"sandglass/backend"
)

// maxLost bounds the lost commands that one poll reports: the newest stay.
const maxLost = backend.MaxReports

// What an error of the SDK in a text names as its command: a list of words, or one text.
var (
	lostCommand = regexp.MustCompile(`\bcommand\\*["']?\s*[:=]\s*(?:[\[(]([^\])]+)[\])]|\\*"((?:[^"\\]|\\[^"])+)\\*"|'([^']+)')`)
	lostWord    = regexp.MustCompile(`\\*"((?:[^"\\]|\\[^"])*)\\*"|'((?:[^'\\]|\\.)*)'`)
)

// commanded keeps the command that the context of an error names, apart from what is shown of the error: it may hold secrets.
func (d *decoder) commanded() bool {
	v, err := d.json.ReadValue()
	if err != nil {
		return false
	}
	switch v.Kind() {
	case '"':
		text := ""
		if json.Unmarshal(v, &text, d.opts) == nil {
			d.lost = []byte(text)
		}
	case '[':
		var words []string
		if json.Unmarshal(v, &words, d.opts) == nil {
			d.lost = []byte(commandLine(words))
		}
	}
	return true
}

// commandLine is a list of words as one text, of which the assignments of a prefix env can be told.
func commandLine(words []string) string {
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n") {
			words[i] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}

// lostIn is the command that an error of the SDK names, empty where it names none.
func lostIn(r *record) string {
	if len(r.lost) > 0 {
		return string(r.lost)
	}
	for _, text := range [][]byte{r.errText, r.message} {
		m := lostCommand.FindSubmatch(text)
		if m == nil {
			continue
		}
		if one := bytes.Join(m[2:], nil); len(one) > 0 {
			return string(one)
		}
		var words []string
		for _, w := range lostWord.FindAllSubmatch(m[1], -1) {
			words = append(words, string(bytes.Join(w[1:], nil)))
		}
		return commandLine(words)
	}
	return ""
}

// lose reports a command for which an agent's SDK waits no more, where its line names it and a session.
func (a *lineAnalyser) lose(r *record, session string, sample []byte, at time.Time) {
	command := backend.CommandOf(a.cleaner.Clean(lostIn(r), backend.MaxTextRunes).String())
	id, err := backend.NewID(session)
	if command == "" || err != nil {
		return
	}
	if len(a.lost) >= maxLost {
		a.lost = a.lost[1:]
	}
	a.lost = append(a.lost, backend.Report{Source: a.source, At: at, Kind: backend.ReportCommandLost, Session: id, Where: a.where(),
		Command: a.cleaner.Clean(command, sampleRunes), Text: a.cleaner.Clean(string(sample[:min(len(sample), maxSample)]), sampleRunes)})
}
