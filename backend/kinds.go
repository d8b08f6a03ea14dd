package backend

import "slices"

// Kind names what a subject is. The values are part of the documented JSON.
type Kind string

// SubjectKind declares one kind of subject. Each kind has one file with its declaration and its entity.
type SubjectKind struct {
	Kind   Kind
	Name   string // in a sentence: "scratch directory"
	Plural string // in a sentence: "scratch directories"
	List   string // in commands and JSON: "tmpdirs"
	Short  string // two or three letters, for narrow columns

	// Input is what a source delivers that lists subjects of the kind; empty: no input tells which there are.
	Input Input
	// Parents are the kinds of subject that a key's Parent names, in the same source. None: the keys have no Parent.
	Parents []Kind
	// PathHasParent says that people address the subject as `<parent>/<id>`.
	PathHasParent bool
	// PartOfParent says that the subject ends with its parent, and is stale while the parent is.
	PartOfParent bool
	// InUse reports whether a subject works or may work, by its own fields; nil: subjects of the kind are not counted as in use.
	InUse func(Entity) bool
	// Carry copies into the newest value of an entity what only its earlier readings say. old is nil for a new
	// entity. seen is between which two readings it took its newest value: the last one before, zero where there was none,
	// and the present one. Forget clears what Carry set, so that two values can be compared. nil: nothing is carried.
	Carry  func(next, old Entity, seen Bounds)
	Forget func(Entity)
	// Happened is what the change from old, nil for a new entity, to next adds to the timeline; ok is false when it adds
	// nothing. It runs after Carry. nil: sources report themselves what happens to subjects of the kind.
	Happened func(next, old Entity) (e Event, ok bool)
	// Tells says that each change of the reported status is an event.
	Tells bool
	// Copy returns a copy of an entity of the kind; nil: the kind has no entities.
	Copy func(Entity) Entity
}

// sourceKind has no entities: a source's health is part of each State.
var sourceKind = SubjectKind{Kind: KindSource, Name: "source", Plural: "sources", List: "sources", Short: "so"}

// KindSource is the kind of a configured source.
const KindSource Kind = "source"

// subjectKinds is the table of the kinds. A new kind adds its line here.
var subjectKinds = [...]*SubjectKind{
	&workspaceKind, &sessionKind, &sandboxKind, &executionKind, &jobKind, &tmpdirKind, &hostKind, &refKind, &sourceKind,
}

// noKind stands for a kind that is not in the table.
var noKind SubjectKind

// SubjectKinds lists the kinds in a fixed order.
func SubjectKinds() []*SubjectKind { return slices.Clone(subjectKinds[:]) }

// Spec is the declaration of a kind. A kind that is not in the table has an empty one.
func (k Kind) Spec() *SubjectKind {
	for _, s := range subjectKinds {
		if s.Kind == k {
			return s
		}
	}
	return &noKind
}

// Parts are the kinds of subject that end with a subject of this kind.
func (s *SubjectKind) Parts() []*SubjectKind {
	var parts []*SubjectKind
	for _, p := range subjectKinds {
		if p.PartOfParent && slices.Contains(p.Parents, s.Kind) {
			parts = append(parts, p)
		}
	}
	return parts
}

// Owner is the key of what an entity is part of; false when its kind has no parent or the parent is not named.
func Owner(e Entity) (Key, bool) {
	k := e.EntityMeta().Key
	parents := k.Kind.Spec().Parents
	if len(parents) == 0 || k.Parent.IsZero() {
		return Key{}, false
	}
	kind := parents[0]
	if x, ok := e.(interface{ parentKind() Kind }); ok {
		kind = x.parentKind()
	}
	return Key{Kind: kind, Source: k.Source, ID: k.Parent}, true
}

// Alias is another text by which people name an entity: the name of a sandbox, the path of a directory. Empty: there is none.
func Alias(e Entity) string {
	if x, ok := e.(interface{ Alias() string }); ok {
		return x.Alias()
	}
	return ""
}

// copyOf copies an entity of one type.
func copyOf[T any, P interface {
	*T
	Entity
}](e Entity) Entity {
	c := *e.(P)
	return P(&c)
}
