package changes

import (
	"regexp"
	"time"

	"sandglass/backend"
)

// Options are the keys of a source of kind "changes".
type Options struct {
	File     string           `toml:"file" path:"file" doc:"a file whose new lines are changes; it may be appended to or replaced"`
	Command  []string         `toml:"command" path:"program" doc:"or: argv that lists changes; it runs once a poll, and lines that it did not print before are new"`
	Name     string           `toml:"name" doc:"one word for these changes on the timeline: deploy, rollout, config, flag"`
	Lookback backend.Duration `toml:"lookback" doc:"how old a line may be at the start and still be put on the timeline, at most 7d; lines without a time are then left out"`
	Fields   Fields           `toml:"fields" doc:"names under which JSON lines carry each fact"`
	MaxBody  backend.Size     `toml:"max_body" doc:"most that is read: the end of a longer file; a longer output is refused"`
}

// Fields names the members of JSON lines, in order of preference.
type Fields struct {
	Time []string `toml:"time" doc:"when it happened: RFC 3339, or epoch seconds, milliseconds, microseconds or nanoseconds"`
	Text []string `toml:"text" doc:"what happened; several that are there are joined"`
}

const maxLookback = 7 * 24 * time.Hour

// firstSource are the lines of a first source.
const firstSource = `file = "/var/log/deploys.log"
name = "deploy"
`

// Kind is the source kind "changes".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("changes", "change markers for the timeline, from a file or a command", defaults, open).WithSample(firstSource)
}

func defaults() Options {
	return Options{
		Name:     "change",
		Lookback: backend.Duration(24 * time.Hour),
		Fields: Fields{
			Time: []string{"time", "timestamp", "ts", "at", "date", "created_on", "createdAt"},
			Text: []string{"text", "message", "msg", "title", "description"},
		},
		MaxBody: 1_000_000,
	}
}

var wordLike = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

func open(opts *Options, o backend.Options, deps backend.Deps) (backend.Source, error) {
	switch {
	case opts.File == "" && len(opts.Command) == 0:
		return nil, o.Refuse("kind", "a changes source needs a file or a command")
	case opts.File != "" && len(opts.Command) > 0:
		return nil, o.Refuse("kind", "file and command are two places; make one source for each")
	case len(opts.Command) > 0 && opts.Command[0] == "":
		return nil, o.Refuse("command", "the program's name is empty")
	case !wordLike.MatchString(opts.Name):
		return nil, o.Refuse("name", "%q is not a word of a-z, 0-9 and -", opts.Name)
	case opts.Lookback.Std() > maxLookback:
		return nil, o.Refuse("lookback", "at most 7d: the timeline is kept no longer")
	case opts.MaxBody < 1000 || opts.MaxBody > 64_000_000:
		return nil, o.Refuse("max_body", "at least 1kB and at most 64MB")
	}
	return newSource(*opts, deps), nil
}
