package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/views"
	"sandglass/views/subjects"
)

func (p *Program) bundleCommand(s *shared) *cobra.Command {
	var o oneShot
	var f finding
	out := ""
	cmd := &cobra.Command{
		Use:   "bundle ID",
		Short: "Export the evidence about a subject or alert as Markdown, for example for a vendor ticket",
		Long: paragraph("Write one Markdown file with all that is known about one %s, and what is joined to it: full ids, evidence, "+
			"events, raw readings, trace ids, the diagnosis. ID is an id as check and get print it, or a unique part of one. Secrets are masked; names and paths are not.", anySubject("alert")) + `

The file goes to bundles/ in the state directory, or to --out, with its SHA-256 in
the audit journal. Actions that destroy what a possible leak left behind ask for it.

Exit codes: 0 written, 1 not written, 3 written, but a source is down, so that
something may be missing.`,
		ValidArgsFunction: p.completeIDs(s),
		Args:              oneArg("bundle needs one id, as check and get print it"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := newFile("--out", out); err != nil {
				return err
			}
			o.asked = args[0]
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.bundle(c.Context(), r, args[0], f, out) })
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write this `FILE`, which must not exist")
	f.flags(p, cmd, s)
	o.flags(cmd)
	return cmd
}

// newFile refuses the name of a file that cannot be made: it is there already, or its directory is not.
func newFile(flag, path string) error {
	switch path {
	case "":
		return nil
	case "-":
		return usage("%s: name a file; - is none", flag)
	}
	if _, err := os.Lstat(path); err == nil {
		return usage("%s: %s is there already; name a file that does not exist yet", flag, path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return usage("%s: there is no directory %s", flag, filepath.Dir(path))
	}
	return nil
}

// maxListed bounds the things that the command names.
const maxListed = 10

func (p *Program) bundle(ctx context.Context, r *reading, id string, f finding, out string) error {
	key, err := r.find(id, f)
	if err != nil {
		return err
	}
	saved, err := r.SaveEvidence(ctx, p.Who, key, out)
	if err != nil {
		if saved.Path == "" {
			return &failure{code: ExitFailed, what: err.Error()}
		}
		return failed("not everything was done", err)
	}
	var about []string
	c := views.NewSnapshot(r.now, r.state, r.board)
	for _, k := range saved.About[:min(len(saved.About), maxListed)] {
		about = append(about, subjects.NounOf(k.Kind)+" "+subjects.NameOf(k, c).String())
	}
	if more := len(saved.About) - maxListed; more > 0 {
		about = append(about, fmt.Sprintf("%d more", more))
	}
	if _, err := io.WriteString(p.Stdout, fmt.Sprintf("wrote %s\nsha256 %s\nabout %s\nnext: read it through before you give it to others; names and paths of your systems are in it\n",
		p.clean(saved.Path), saved.SHA256, p.clean(strings.Join(about, ", ")))); err != nil {
		return unwritten(err)
	}
	return p.incomplete(r.state)
}
