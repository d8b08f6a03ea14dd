package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
	"sandglass/backend/fleet"
	"sandglass/config"
)

// starterFile is what `config init` writes in the current directory when no file is named.
const starterFile = "sandglass.toml"

// findWithin bounds the look at what this machine has.
const findWithin = 5 * time.Second

func (p *Program) configInitCommand(s *shared) *cobra.Command {
	var force, full bool
	var kinds []string
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a configuration to begin with; - writes it to the standard output",
		Long: `Write a short configuration for what this machine has, into FILE or into
` + starterFile + ` in the current directory. Nothing is asked, and a file that is there stays.

--for names the kinds of sources instead; for helix it adds verbs of your own as comments.
--full writes every key with its default.`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			content := ""
			switch {
			case full && len(kinds) > 0:
				return usage("--full has every kind: leave out --for")
			case full:
				content = config.Example(p.Known())
			case len(kinds) > 0:
				parts, err := p.partsFor(words[string](kinds))
				if err != nil {
					return err
				}
				if len(parts) == 0 {
					return usage("--for names no kind; known are %s", strings.Join(p.kindNames(), ", "))
				}
				content = config.Starter(p.Known(), parts, true)
			default:
				content = config.Starter(p.Known(), p.partsHere(c.Context()), false)
			}
			path := s.config
			if path == "" {
				path = starterFile
			}
			if len(args) == 1 {
				if path = args[0]; path == "" {
					return usage("the name of the file is empty; leave it out for %s, or write - for the standard output", starterFile)
				}
			}
			if path == "-" {
				return unwrittenIf(p.write(content))
			}
			return p.writeStarter(path, content, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	cmd.Flags().BoolVar(&full, "full", false, "every key, with its default and what it is for")
	cmd.Flags().StringSliceVar(&kinds, "for", nil, "for sources of these `KINDS`: "+strings.Join(p.kindNames(), ","))
	p.complete(cmd, "for", p.kindNames())
	return cmd
}

func (p *Program) writeStarter(path, content string, force bool) error {
	made := ""
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		made = fmt.Sprintf("made the directory %s\n", p.clean(filepath.Dir(path)))
	}
	if err := writeNew(path, content, force); err != nil {
		return err
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		whole = path
	}
	said := made + fmt.Sprintf("wrote %s (%s)\ncheck it with: sandglass config check --config %s\n", p.clean(whole), plural(strings.Count(content, "\n"), "line"), p.clean(path))
	if usual := config.DefaultPath(p.Getenv); usual != "" && usual != whole {
		said += fmt.Sprintf("commands read it without --config when it is %s\n", p.clean(usual))
	}
	_, err = io.WriteString(p.Stdout, said)
	return unwrittenIf(err)
}

func (p *Program) kindNames() []string {
	var names []string
	for _, k := range p.Kinds {
		names = append(names, k.Name)
	}
	return names
}

// partsFor are sources of the kinds that are named.
func (p *Program) partsFor(kinds []string) ([]config.Part, error) {
	var parts []config.Part
	for _, k := range distinct(kinds) {
		if !slices.Contains(p.kindNames(), k) {
			return nil, usage("--for: there is no kind %q%s", k, didYouMean(k, p.kindNames()))
		}
		parts = append(parts, config.Part{Kind: k, ID: k + "-1"})
	}
	return parts, nil
}

// usualEngine is where a container engine answers without any setting.
const usualEngine = "unix:///var/run/docker.sock"

// chosenAddress is the address of an engine that the environment or a context chose: another shell or cron may lack both.
func chosenAddress(s app.Source) string {
	e, ok := s.Source.(interface{ Address() string })
	if !ok || e.Address() == usualEngine {
		return ""
	}
	return e.Address()
}

// remoteKinds are the kinds that a starter shows as comments: what they read is elsewhere.
var remoteKinds = []string{"helix", "prometheus", "logs"}

// partsHere are the sources that this machine has; what it lacks, and what is elsewhere, is commented out.
func (p *Program) partsHere(ctx context.Context) []config.Part {
	local := config.Local()
	var st *fleet.State
	found := map[string]map[string]string{}
	if x, err := p.Open(app.StationOptions{Config: local, Stateless: true, Looks: true}); err == nil {
		once, cancel := context.WithTimeout(ctx, findWithin)
		st = x.Poll(once)
		cancel()
		for _, s := range x.Sources {
			if address := chosenAddress(s); address != "" {
				found[s.Config.ID] = map[string]string{"host": address}
			}
		}
		x.Close()
	}
	var parts []config.Part
	for _, s := range local.Sources {
		part := config.Part{Kind: s.Kind, ID: s.ID, Off: true, Why: "Not found here.", On: config.LocalKeys()}
		if st != nil {
			if h := st.Source(s.ID); h != nil && (h.Status == fleet.StatusOK || h.Status == fleet.StatusDegraded) {
				part.Off, part.Why = false, "Found here."
				part.Set = found[s.ID]
			}
		}
		parts = append(parts, part)
	}
	for _, k := range remoteKinds {
		if slices.Contains(p.kindNames(), k) {
			parts = append(parts, config.Part{Kind: k, ID: k + "-1", Off: true})
		}
	}
	return parts
}
