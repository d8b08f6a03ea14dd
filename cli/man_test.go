package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A manual page has the words of the help as they are: what roff would take for a request or an escape is shown, and hidden flags are not.
func TestManualPageShowsTheHelpAsItIs(t *testing.T) {
	root := &cobra.Command{Use: "sandglass", Short: "root", Run: func(*cobra.Command, []string) {}}
	c := &cobra.Command{Use: "why ID [flags]", Short: "Print <all>", Long: ".hidden is a name\n'quoted' and C:\\temp", Example: "  sandglass why s-1", Run: func(*cobra.Command, []string) {}}
	c.Flags().StringP("output", "o", "text", "`FORMAT` of the answer")
	c.Flags().Bool("exit-code", false, "exit as check does")
	c.Flags().String("secret", "", "")
	if err := c.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(c)
	page := manPage(c, "1.2", time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		".TH \"SANDGLASS-WHY\" \"1\" \"Nov 2026\" \"Sandglass 1.2\" \"Sandglass\"\n",
		".SH NAME\nsandglass\\-why \\- Print <all>\n",
		"\n\\&.hidden is a name\n\\&'quoted' and C:\\etemp\n",
		".TP\n\\fB\\-o\\fP, \\fB\\-\\-output\\fP=FORMAT\nFORMAT of the answer (default text)\n",
		".TP\n\\fB\\-\\-exit\\-code\\fP\nexit as check does\n",
		".SH EXAMPLE\n.EX\n  sandglass why s\\-1\n",
		".SH SEE ALSO\n\\fBsandglass\\fP(1)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "secret") {
		t.Errorf("a hidden flag is on the page:\n%s", page)
	}
}
