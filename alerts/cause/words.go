package cause

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var wordList string

// meaning is what a word of the list is for.
type meaning uint8

const (
	unlisted meaning = iota // a name
	grammar                 // kept, but no cause by itself
	content                 // what an error is about
	outcome                 // what went wrong
	numeral                 // a number in words
	filler                  // left out
)

// lexicon is the list of words with their regular forms.
var lexicon = readWords(wordList)

func readWords(list string) map[string]meaning {
	all := make(map[string]meaning, 8192)
	for _, line := range strings.Split(list, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words, is := strings.Fields(line), content
		switch words[0] {
		case "grammar":
			is, words = grammar, words[1:]
		case "outcome":
			is, words = outcome, words[1:]
		case "numeral":
			is, words = numeral, words[1:]
		case "filler":
			is, words = filler, words[1:]
		}
		for _, w := range words {
			if is != content && is != outcome {
				all[w] = is
				continue
			}
			for _, f := range forms(w) {
				if all[f] == unlisted || f == w && all[f] == content {
					all[f] = is
				}
			}
		}
	}
	return all
}

// forms are a word, its plural and the regular forms of a verb.
func forms(w string) []string {
	out := []string{w}
	if len(w) < 3 {
		return out
	}
	stem, last, before := w[:len(w)-1], w[len(w)-1], w[len(w)-2]
	switch {
	case last == 'e':
		return append(out, w+"s", w+"d", w+"r", stem+"ing", stem+"able")
	case last == 'y' && !vowel(before):
		return append(out, stem+"ies", stem+"ied", w+"ing")
	case last == 's' || last == 'x' || strings.HasSuffix(w, "ch") || strings.HasSuffix(w, "sh"):
		return append(out, w+"es", w+"ed", w+"ing")
	}
	out = append(out, w+"s", w+"ed", w+"ing", w+"er", w+"able")
	if !vowel(last) && last != 'w' && last != 'y' && vowel(before) && !vowel(w[len(w)-3]) { // stop, stopped
		out = append(out, w+string(last)+"ed", w+string(last)+"ing")
	}
	return out
}

func vowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'
}

// calendar are the names in dates, as they are written there.
var calendar = setOf("Mon Tue Wed Thu Fri Sat Sun Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec GMT UTC CET CEST Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

// tells are the words after which a number says which variant of a cause it is.
var tells = setOf("http code status statuscode exit exited errno signal port version schemaversion schema error https ntstatus hresult sqlstate")

// answers are the words around an HTTP status that stands alone.
var answers = setOf("http get post put patch delete head fetch response responded returned status server upstream replied answered received got")

// holders are the words after which something in capitals is a name.
var holders = setOf("binding bindings env variable var secret namespace class table queue bucket environment")

// roles are listed words that worlds give as names to the things that named are.
var (
	roles = setOf("main primary default worker writer reader coder tester builder scheduler runner watcher manager controller router parser loader proxy")
	named = setOf("agent pod session workspace sandbox tenant job bucket branch user by")
)

// carriers are the words that stand with an identifier or a count in brackets, as in (attempt 3) and [trace 4bf9].
var carriers = setOf("attempt attempts try tries retry retries trace traceid request requestid req correlation correlationid span ray id pid tid ref of")

// units of time follow a number and belong to it; tries are what an ordinal counts.
var (
	units = setOf("second seconds sec secs minute minutes min mins hour hours day days millisecond milliseconds msec")
	tries = setOf("attempt attempts try retry request call time")
)

// spoken are the keys whose value says what went wrong.
var spoken = setOf("error err reason msg message cause code type kind state status errno level syscall op operation title detail details description signal")

// reasons are the phrases behind an HTTP status (RFC 9110, section 15), which say the same as its number.
var reasons = [...]string{"bad request", "unauthorized", "payment required", "forbidden", "not found", "method not allowed", "not acceptable", "proxy authentication required",
	"request timeout", "conflict", "gone", "length required", "precondition failed", "payload too large", "content too large", "uri too long", "unsupported media type", "range not satisfiable",
	"expectation failed", "misdirected request", "unprocessable entity", "unprocessable content", "locked", "failed dependency", "too early", "upgrade required", "precondition required",
	"too many requests", "internal server error", "not implemented", "bad gateway", "service unavailable", "gateway timeout", "gateway time-out", "http version not supported", "insufficient storage"}

// reasonEnd is where the phrase behind an HTTP status ends, 0 where there is none: the word before at is one of them only if nothing else of
// the sentence follows it.
func reasonEnd(s string, at int) int {
	rest := strings.TrimLeft(s[at:], " :-")
	for _, x := range reasons {
		if len(rest) < len(x) || !strings.EqualFold(rest[:len(x)], x) {
			continue
		}
		if after := rest[len(x):]; after == "" || strings.IndexByte(".,;:)\"'\n", after[0]) >= 0 {
			return len(s) - len(after)
		}
	}
	return 0
}

// compass are the parts of a region's name that its number follows.
var compass = setOf("east west north south central northeast northwest southeast southwest")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// things are the words and keys whose values an engineer tells apart, unlike the names of sessions and of who uses them.
var things = setOf(`binding bindings env environment variable var secret namespace class table column constraint index queue bucket database schema module package
	library image tag repository registry host hostname server domain zone region endpoint url path file filename directory dir folder mount device
	capability capabilities provider plugin extension property reading field header option flag parameter argument command executable exec open mkdir mkdtemp
	unlink stat lookup syscall role resource cluster migration format`)

// Telling is how much a value says about which variant of a cause an error is.
type Telling uint8

// From the least telling on.
const (
	TellsName   Telling = iota // a name, that may be the subject's own
	TellsThing                 // what an engineer knows by its name: a binding, an image, a path, a host
	TellsNumber                // a status, an exit code, a port
	TellsAll                   // a whole text
)

// Tells is how much a value behind a word or key says.
func (v Value) Tells() Telling {
	switch {
	case v.Label == wholeLabel:
		return TellsAll
	case tells[v.Label]:
		return TellsNumber
	case things[v.Label], strings.ContainsAny(v.Text, "/\\"):
		return TellsThing
	}
	dot := strings.IndexByte(v.Text, '.')
	if text := strings.Trim(v.Text, "'"); dot > 0 && dot < len(v.Text)-1 || len(text) > 1 && allUpper(text) && isLetter(text[0]) && !isCodeNumber(text) {
		return TellsThing
	}
	return TellsName
}
