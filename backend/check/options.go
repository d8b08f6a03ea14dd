package check

import (
	"regexp"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Options are the keys of a source of kind "check".
type Options struct {
	Fact     string          `toml:"fact" doc:"what it states, as a short name: r2.reachable"`
	URL      string          `toml:"url" doc:"an address that is asked with GET: an answer of 2xx says that the fact holds, another that it does not"`
	Command  []string        `toml:"command" path:"program" doc:"or: argv, no shell; exit status 0 says that the fact holds. It only reads, and runs once an interval"`
	Statuses []int           `toml:"statuses" doc:"answers of the url that say that it holds; empty: 200 to 299"`
	NoExit   []int           `toml:"no_exit" doc:"exit statuses of the command that say that it does not hold; every other but 0 says nothing"`
	Expect   string          `toml:"expect" doc:"regular expression that the answer's body or the command's output must match too; empty: anything"`
	NoAnswer string          `toml:"no_answer" doc:"what no answer in time says: unknown, or false where this machine's own network is not in doubt"`
	RulesOut []string        `toml:"rules_out" doc:"questions of the runbook's diagnoses that the fact answers with no when it holds, and with yes when it does not"`
	Confirms []string        `toml:"confirms" doc:"questions that it answers with yes when it holds, and with no when it does not"`
	MaxBody  backend.Size    `toml:"max_body" doc:"largest answer or output that is read"`
	Read     wire.Credential `toml:"read" doc:"credential for the url, when it needs one"`
}

// The words of no_answer.
const (
	saysUnknown = "unknown"
	saysFalse   = "false"
)

// firstSource are the lines of a first source.
const firstSource = `fact = "bucket.reachable"
url = "https://bucket.example/health"
`

// Kind is the source kind "check". questions are the names of the questions that diagnoses ask.
func Kind(questions []string) backend.SourceKind {
	return backend.NewSourceKind("check", "a fact that no other source reports, from a URL or a command; [[check]] is short for it, with interval 30s",
		defaults, func(opts *Options, o backend.Options, deps backend.Deps) (backend.Source, error) {
			if err := opts.check(o, questions); err != nil {
				return nil, err
			}
			return newSource(*opts, deps)
		}).WithSample(firstSource)
}

func defaults() Options {
	return Options{NoExit: []int{1}, NoAnswer: saysUnknown, MaxBody: 100_000}
}

var factName = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)*$`)

func (opts *Options) check(o backend.Options, questions []string) error {
	switch {
	case opts.Fact == "":
		return o.Refuse("fact", "say what it states, for example r2.reachable")
	case len(opts.Fact) > 60 || !factName.MatchString(opts.Fact):
		return o.Refuse("fact", "%q is not a name of a-z, 0-9, - and dots", opts.Fact)
	case opts.URL == "" && len(opts.Command) == 0:
		return o.Refuse("fact", "a check needs a url or a command")
	case opts.URL != "" && len(opts.Command) > 0:
		return o.Refuse("command", "url and command are two checks; write one for each")
	case len(opts.Command) > 0 && opts.Command[0] == "":
		return o.Refuse("command", "the program's name is empty")
	case opts.NoAnswer != saysUnknown && opts.NoAnswer != saysFalse:
		return o.Refuse("no_answer", "%q is neither unknown nor false", opts.NoAnswer)
	case opts.MaxBody < 1000 || opts.MaxBody > 64_000_000:
		return o.Refuse("max_body", "at least 1kB and at most 64MB")
	case opts.URL == "" && len(opts.Statuses) > 0:
		return o.Refuse("statuses", "a command has none; no_exit names its exit statuses")
	case opts.URL == "" && !opts.Read.IsZero():
		return o.Refuse("read", "a command reads its credentials by itself")
	case slices.ContainsFunc(opts.Statuses, func(n int) bool { return n < 200 || n > 599 || n/100 == 3 }):
		return o.Refuse("statuses", "an answer has a status of 200 to 299 or 400 to 599; redirects are not followed")
	case slices.ContainsFunc(opts.NoExit, func(n int) bool { return n < 1 || n > 255 }):
		return o.Refuse("no_exit", "an exit status other than success is 1 to 255")
	}
	if opts.URL != "" {
		if _, err := wire.ParseURL(opts.URL); err != nil {
			return o.Refuse("url", "%v", err)
		}
	}
	if _, err := regexp.Compile(opts.Expect); err != nil {
		return o.Refuse("expect", "%v", err)
	}
	if err := opts.Read.Check(o); err != nil {
		return err
	}
	return opts.checkQuestions(o, questions)
}

func (opts *Options) checkQuestions(o backend.Options, questions []string) error {
	for key, names := range map[string][]string{"rules_out": opts.RulesOut, "confirms": opts.Confirms} {
		for _, name := range names {
			if !slices.Contains(questions, name) {
				return o.Refuse(key, "no diagnosis asks %q; they ask: %s", name, strings.Join(questions, ", "))
			}
		}
	}
	for _, name := range opts.RulesOut {
		if slices.Contains(opts.Confirms, name) {
			return o.Refuse("confirms", "%q is in rules_out too", name)
		}
	}
	return nil
}
