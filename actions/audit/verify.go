package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// maxProblems bounds the problems that a Report lists; More counts the rest.
const maxProblems = 100

// ProblemKind says what is wrong with a journal, in one word.
type ProblemKind string

// The kinds of problems.
const (
	Damaged    ProblemKind = "damaged"      // bytes of the line were changed, or it never was a record
	Missing    ProblemKind = "missing"      // lines before it were removed
	Doubled    ProblemKind = "doubled"      // the same record again
	OutOfOrder ProblemKind = "out of order" // an earlier record in a later place
	Replaced   ProblemKind = "replaced"     // the line before it is another than the one that it was chained to
	CutOff     ProblemKind = "cut off"      // an anchor knows records behind the last one, or another journal here
)

// Problem is one place at which the journal is not what was written.
type Problem struct {
	Line int // 1 is the first
	Kind ProblemKind
	What string // in words, without anything from the file
}

// Report is what a check of a journal found.
type Report struct {
	Lines   int
	Records int
	First   time.Time // of the first record and of the last
	Last    time.Time
	// Head is the last record. Compared with a head that was kept elsewhere it shows whether the tail was cut off,
	// which the journal alone cannot show.
	Head     Receipt
	Problems []Problem
	More     int // problems beyond those listed
	// Torn is the number of the last line when it is the beginning of a record only: a crash or a full disk left it, or
	// the file was cut inside of a line. 0: the file ends as it should.
	Torn int
	// Anchored is the last record that a head kept elsewhere vouches for; 0: the journal is unanchored, and a tail that
	// was cut off, or a file rewritten as a whole, would not show. Anchors of other journals are counted in Foreign.
	Anchored uint64
	Foreign  int
	// Sealed are such lines further up: the record behind each vouches that it was there, just so, before it.
	Sealed []int
}

// Intact reports whether every line is a record in its place, lines that a crash left incomplete aside.
func (r *Report) Intact() bool { return len(r.Problems) == 0 }

// verifyChain checks a journal from its first line to its last: each line against its own hash, each record against the line
// before it, and all against the heads that were kept elsewhere. Place is the journal's own (Journal.Place): an anchor of
// that place that names another journal shows that this one is not the one that was kept here; empty: unknown. The error is
// that of reading; damage of the journal is in the Report.
func verifyChain(r io.Reader, place string, anchors []Anchor) (Report, error) {
	v := &verifier{head: Receipt{Hash: noLine}, witness: newWitness(place, anchors)}
	s := newScanner(r)
	for s.next() {
		v.report.Lines = s.number
		rec, err := s.record()
		if err != nil {
			v.noRecord(s, err)
			continue
		}
		v.record(s, &rec)
	}
	if s.err != nil {
		return v.report, fmt.Errorf("audit journal, behind line %d: %w", s.number, s.err)
	}
	v.end()
	v.report.Head = v.head
	return v.report, nil
}

// verifier walks a journal. Lines that are no records wait until the record behind them says whether it knows them.
type verifier struct {
	report  Report
	head    Receipt // of the last record in its place
	witness *anchorCheck

	waiting []Problem // at most maxProblems of them
	unkept  int       // further ones
	bytes   int64     // of the waiting lines, line ends between them included
	sum     hash.Hash // of the same bytes; nil when nothing waits
	whole   bool      // one of the waiting lines has the end of a record, or a line end, or is too long to tell
}

func (v *verifier) noRecord(s *scanner, err error) {
	if v.sum == nil {
		v.sum = sha256.New()
	} else {
		v.sum.Write([]byte{'\n'}) // a hash never fails
		v.bytes++
	}
	v.sum.Write(s.line)
	v.bytes += s.size
	if errors.Is(err, errTooLong) || looksWhole(s.line) || !s.ended && overwritten(s.line) {
		v.whole = true
	}
	if !s.ended && !v.whole && len(v.waiting) == 0 {
		v.report.Torn = s.number
		v.drop()
		return
	}
	if len(v.waiting) == maxProblems {
		v.unkept++
		return
	}
	v.waiting = append(v.waiting, Problem{s.number, Damaged, err.Error()})
}

// record checks a proven line's place.
func (v *verifier) record(s *scanner, r *Record) {
	skipped := v.remains(s, r)
	here := Receipt{Seq: r.Seq, Hash: sumOf(s.line)}
	switch next := v.head.Seq + 1; {
	case r.Seq == v.head.Seq && here.Hash == v.head.Hash:
		v.problem(s.number, Doubled, fmt.Sprintf("record %d is here again", r.Seq))
		return
	case r.Seq < next:
		v.problem(s.number, OutOfOrder, fmt.Sprintf("record %d comes after record %d", r.Seq, v.head.Seq))
		return
	case r.Seq > next+skipped:
		v.problem(s.number, Missing, fmt.Sprintf("records %d to %d are missing before it", next, r.Seq-1))
	case r.Prev != v.head.Hash && (skipped == 0 || r.Seq == next):
		v.problem(s.number, Replaced, fmt.Sprintf("record %d was chained to another record %d than the one before it", r.Seq, r.Seq-1))
	case r.Seq == 1 && r.Origin == nil:
		v.problem(s.number, Damaged, "the first record does not say where the journal was begun")
	}
	v.head = here
	switch anchored, wrong := v.witness.see(here); {
	case wrong:
		v.problem(s.number, Replaced, fmt.Sprintf("record %d is not the one that was anchored", r.Seq))
	case anchored:
		v.report.Anchored = here.Seq
	}
	v.report.Records++
	if v.report.Records == 1 {
		v.report.First = r.At
	}
	v.report.Last = r.At
}

// remains settles the lines that wait before a record. It returns how many records they may have been: none when the
// record knows them for what was there when it was written.
func (v *verifier) remains(s *scanner, r *Record) (skipped uint64) {
	a := r.After
	known := a != nil && v.sum != nil && a.Bytes == v.bytes && a.Sum == hex.EncodeToString(v.sum.Sum(nil))
	lines := len(v.waiting)
	switch {
	case known && a.Torn && lines == 1 && !v.whole:
		v.report.Sealed = append(v.report.Sealed, v.waiting[0].Line)
	case known:
		v.flush()
	default:
		if a != nil {
			v.problem(s.number, Replaced, "the records before this one were changed or removed")
		}
		skipped = uint64(lines + v.unkept)
		v.flush()
	}
	v.drop()
	return skipped
}

// flush lists what waits.
func (v *verifier) flush() {
	for _, p := range v.waiting {
		v.problem(p.Line, p.Kind, p.What)
	}
	v.report.More += v.unkept
}

func (v *verifier) drop() { v.waiting, v.unkept, v.bytes, v.sum, v.whole = nil, 0, 0, nil, false }

func (v *verifier) end() {
	v.flush()
	v.drop()
	last, lost, another, foreign := v.witness.end(v.head.Seq)
	v.report.Foreign = foreign
	if last > 0 {
		v.problem(v.report.Lines+1, CutOff, fmt.Sprintf("records %d to %d were anchored and are missing at the end", v.head.Seq+1, last))
	}
	if lost {
		v.problem(v.report.Lines+1, CutOff, "a record whose hash was anchored is not here")
	}
	if another {
		v.problem(1, CutOff, "another journal was anchored in this place: this one was put there instead, or the old one was moved away")
	}
}

func (v *verifier) problem(line int, kind ProblemKind, what string) {
	if len(v.report.Problems) == maxProblems {
		v.report.More++
		return
	}
	v.report.Problems = append(v.report.Problems, Problem{line, kind, what})
}
