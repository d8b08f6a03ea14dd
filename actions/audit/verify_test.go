package audit

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"sandglass/backend"
)

func join(lines ...[]byte) []byte { return bytes.Join(lines, nil) }

func TestEveryFlippedBitIsFound(t *testing.T) {
	_, good := journalOf(t, 3)
	if r := verify(t, good); !r.Intact() || r.Torn != 0 || r.Records != 3 {
		t.Fatalf("the journal itself: %+v", r)
	}
	line := 1
	b := bytes.Clone(good)
	for i := range good {
		for bit := range 8 {
			b[i] = good[i] ^ 1<<bit
			r := verify(t, b)
			switch {
			case r.Intact():
				t.Fatalf("byte %d with bit %d flipped is not found", i, bit)
			case r.Problems[0].Line != line || r.Problems[0].Kind != Damaged:
				t.Fatalf("byte %d of line %d with bit %d flipped: %s", i, line, bit, found(&r))
			}
		}
		if b[i] = good[i]; b[i] == '\n' {
			line++
		}
	}
}

func TestMovedLinesAreFound(t *testing.T) {
	_, b := journalOf(t, 6)
	another := newJournal(t)
	for i := range 6 {
		add(t, another, entry(i+10))
	}
	other := content(t, another)
	l := bytes.SplitAfter(b, []byte("\n"))
	o := bytes.SplitAfter(other, []byte("\n"))
	damaged := []byte("{}\n")
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"unchanged", b, ""},
		{"first removed", join(l[1], l[2], l[3], l[4], l[5]), "1 missing"},
		{"third removed", join(l[0], l[1], l[3], l[4], l[5]), "3 missing"},
		{"two removed", join(l[0], l[3], l[4], l[5]), "2 missing"},
		{"two swapped", join(l[0], l[2], l[1], l[3], l[4], l[5]), "2 missing, 3 out of order"},
		{"last two swapped", join(l[0], l[1], l[2], l[3], l[5], l[4]), "5 missing, 6 out of order"},
		{"first two swapped", join(l[1], l[0], l[2], l[3], l[4], l[5]), "1 missing, 2 out of order"},
		{"doubled", join(l[0], l[1], l[1], l[2], l[3], l[4], l[5]), "3 doubled"},
		{"last doubled", join(b, l[5]), "7 doubled"},
		{"first again at the end", join(b, l[0]), "7 out of order"},
		{"twice the whole", join(b, b), "7 out of order, 8 out of order, 9 out of order, 10 out of order, 11 out of order, 12 doubled"},
		{"an empty line between", join(l[0], []byte("\n"), l[1], l[2], l[3], l[4], l[5]), "2 damaged"},
		{"a foreign line between", join(l[0], l[1], damaged, l[2], l[3], l[4], l[5]), "3 damaged"},
		{"one overwritten", join(l[0], l[1], damaged, l[3], l[4], l[5]), "3 damaged"},
		{"two overwritten by one", join(l[0], l[1], damaged, l[4], l[5]), "3 damaged, 4 missing"},
		{"one damaged, one more inserted", join(l[0], damaged, damaged, l[2], l[3], l[4], l[5]), "2 damaged, 3 damaged"},
		{"garbage at the end", join(b, damaged), "7 damaged"},
		{"an empty line at the end", join(b, []byte("\n")), "7 damaged"},
		{"nothing", nil, ""},
		{"lines of another journal", join(l[0], l[1], o[2], o[3], l[4], l[5]), "3 replaced, 5 replaced"},
	} {
		r := verify(t, c.in)
		if got := found(&r); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// TestARecordMadeUpInsideIsFound gives a line its right hash, as somebody who knows the format can.
func TestARecordMadeUpInsideIsFound(t *testing.T) {
	_, b := journalOf(t, 4)
	l := bytes.SplitAfter(b, []byte("\n"))
	forged := func(change func(*Record)) []byte {
		r, err := decode(bytes.TrimSuffix(l[1], []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		line, err := encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		return append(line, '\n')
	}
	reason := forged(func(r *Record) { r.Reason = backend.Text("nobody knows") })
	claims := forged(func(r *Record) { r.After = &Remains{Bytes: 3, Sum: sumOf([]byte("abc")), Torn: true} })
	for want, in := range map[string][]byte{
		"3 replaced":             join(l[0], reason, l[2], l[3]),
		"2 replaced, 3 replaced": join(l[0], claims, l[2], l[3]),
		"1 damaged, 2 replaced":  join(forged(func(r *Record) { r.Seq, r.Prev = 1, noLine }), l[1], l[2], l[3]),
	} {
		if r := verify(t, in); found(&r) != want {
			t.Errorf("found %q, want %q", found(&r), want)
		}
	}
	dup := bytes.Replace(l[1], []byte(`"verb":"reset"`), []byte(`"verb":"reset","verb":"clean"`), 1)
	at := len(dup) - 1 - tailSize
	dup = append(append(bytes.Clone(dup[:at]), sumOpen+sumOf(dup[:at])+sumClose...), '\n')
	if r := verify(t, join(l[0], dup, l[2], l[3])); found(&r) != "2 damaged" {
		t.Errorf("a name twice: %q", found(&r))
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, b := journalOf(t, 1)
	noise := bytes.Repeat([]byte("noise\n"), 1000)
	for _, in := range [][]byte{join(b, noise), join(noise, b)} {
		r := verify(t, in)
		if len(r.Problems) != maxProblems || r.More != 1000-maxProblems {
			t.Errorf("%d problems and %d more", len(r.Problems), r.More)
		}
	}
	long := append(bytes.Repeat([]byte("x"), MaxLine+7), '\n')
	if r := verify(t, join(b, long)); found(&r) != "2 damaged" || r.Lines != 2 {
		t.Errorf("a long line: %s", found(&r))
	}
}

func TestFilters(t *testing.T) {
	j, _ := journalOf(t, 6)
	note := entry(0)
	note.Phase, note.Verb, note.Who.Claimed, note.At, note.Digest, note.Subjects = PhaseNote, "note", backend.Text("grace"), t0.Add(9e9), "", nil
	add(t, j, note)
	for want, f := range map[string]Filter{
		"1 2 3 4 5 6 7": {},
		"3 4":           {Since: t0.Add(2e9), Until: t0.Add(4e9)},
		"2 4 6":         {Results: []Result{ResultAccepted}},
		"1 3 5 7":       {Phases: []Phase{PhaseIntent, PhaseNote}},
		"7":             {User: "grace"},
		"1 2 3 4 5 6":   {Verbs: []string{"reset"}, User: "ada"},
		"3":             {Subject: backend.MustID("s-2/notes"), Digest: "9f"},
		"5":             {Subject: backend.MustID("s-4")},
		"":              {Digest: "9f3c0"},
	} {
		var got []string
		for r, err := range j.Records(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(r.Seq))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v selects %v, want %s", f, got, want)
		}
	}
}

func TestAFilterDoesNotHideDamage(t *testing.T) {
	_, b := journalOf(t, 3)
	l := bytes.SplitAfter(b, []byte("\n"))
	var got []string
	for r, err := range Read(bytes.NewReader(join(l[0], []byte("?\n"), l[2])), Filter{Subject: backend.MustID("s-2")}) {
		got = append(got, fmt.Sprint(r.Seq, err))
	}
	want := "0 audit journal, line 2: the line is not a whole record|3 <nil>"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func FuzzRead(f *testing.F) {
	j, good := journalOf(f, 3)
	f.Add(good)
	f.Add(good[:len(good)-20])
	f.Add(append(bytes.Clone(good), "\n\n{}\n"...))
	f.Add([]byte(`{"schema":1,"sum":""}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := verify(t, b)
		records, broken := 0, 0
		for _, err := range Read(bytes.NewReader(b), Filter{}) {
			if err == nil {
				records++
			} else {
				broken++
			}
		}
		if records+broken != r.Lines || r.Records > records {
			t.Fatalf("read %d records and %d other lines, verified %d records of %d lines", records, broken, r.Records, r.Lines)
		}
		if r.Intact() && (r.Records != records || int(r.Head.Seq) != records) {
			t.Fatalf("intact, but %d records in their places of %d, head %d", r.Records, records, r.Head.Seq)
		}
		// Whatever a journal holds, the next record stands in a line of its own.
		end, err := readTail(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		out, got, err := j.behind(end, entry(1))
		if err != nil {
			t.Fatal(err)
		}
		after := verify(t, join(b, out))
		if after.Head != got && r.Intact() {
			t.Fatalf("appended %v, the head is %v", got, after.Head)
		}
		if r.Intact() != after.Intact() {
			t.Fatalf("before: %s; after: %s", found(&r), found(&after))
		}
	})
}

func BenchmarkVerify100k(b *testing.B) {
	var file bytes.Buffer
	head := Receipt{Hash: noLine}
	for i := range 100_000 {
		r := &Record{Schema: Schema, Seq: head.Seq + 1, Prev: head.Hash, Entry: entry(i).masked(backend.NewCleaner())}
		if i == 0 {
			o := origin()
			r.Origin = &o
		}
		line, err := encode(r)
		if err != nil {
			b.Fatal(err)
		}
		head = Receipt{r.Seq, sumOf(line)}
		file.Write(append(line, '\n'))
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := verifyChain(bytes.NewReader(file.Bytes()), "", nil)
		if err != nil || !r.Intact() || r.Head != head {
			b.Fatalf("%+v, %v", r, err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	j := newJournal(b)
	b.ReportAllocs()
	for b.Loop() {
		add(b, j, entry(0))
	}
}

// Damage is found before anything is appended, and again after the file changed.
func TestDamageIsNamed(t *testing.T) {
	j, err := New(Options{Dir: t.TempDir(), Origin: origin()})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Damage(t.Context()); err != nil {
		t.Errorf("no journal yet: %v", err)
	}
	for n := range 3 {
		if _, err := j.Append(t.Context(), entry(n+1), Written); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Damage(t.Context()); err != nil {
		t.Errorf("a sound journal: %v", err)
	}
	sound, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(sound, []byte("\n"))
	if err := os.WriteFile(j.Path(), append(bytes.Clone(lines[0]), bytes.Join(lines[2:], nil)...), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Damage(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged in line 2 (missing)") {
			t.Errorf("a line is missing: %v", err)
		}
	}
}
