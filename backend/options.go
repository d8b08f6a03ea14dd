package backend

// Options decodes the options of one configured source into a kind's own struct, strictly: an unknown key or a wrong
// value is an error that carries file:line:column. Fields keep the values they had (defaults) where the file is
// silent. Struct tags: `toml:"key"` and `doc:"one line of why"`; the documentation is generated from them.
type Options interface {
	Decode(into any) error
	// Refuse makes an error about the value of a key ("url", "read.env"), with the position of that key in the file,
	// for what only the adapter can judge.
	Refuse(key string, format string, args ...any) error
}

// SourceKind is how one kind of source is built. The wiring holds one per adapter.
type SourceKind struct {
	Name    string
	Summary string
	// Inputs are what a source of the kind can deliver. Until its first answer nothing else says what it is asked for.
	Inputs []Input
	// Defaults returns a pointer to the kind's option struct with its defaults, for generated documentation.
	Defaults func() any
	// Sample are the lines of a first [[source]] below its id and kind; what is not needed is commented out.
	Sample string
	// Env are environment variables that a source of the kind takes what its configuration leaves out from: the one that tells
	// that somebody uses such a platform first.
	Env []string
	// New decodes the options and builds the source. It opens no connection.
	New func(Options, Deps) (Source, error)
}

// WithSample is the kind with the lines of a first [[source]].
func (k SourceKind) WithSample(lines string) SourceKind {
	k.Sample = lines
	return k
}

// FromEnv is the kind with the environment variables that its sources use.
func (k SourceKind) FromEnv(names ...string) SourceKind {
	k.Env = names
	return k
}

// Delivering is the kind with the inputs that its sources can deliver.
func (k SourceKind) Delivering(inputs ...Input) SourceKind {
	k.Inputs = inputs
	return k
}

// NewSourceKind is a kind whose options are decoded over their defaults. open checks them and builds the source.
func NewSourceKind[O any](name, summary string, defaults func() O, open func(*O, Options, Deps) (Source, error)) SourceKind {
	return SourceKind{
		Name: name, Summary: summary,
		Defaults: func() any { o := defaults(); return &o },
		New: func(o Options, deps Deps) (Source, error) {
			opts := defaults()
			if err := o.Decode(&opts); err != nil {
				return nil, err
			}
			return open(&opts, o, deps)
		},
	}
}
