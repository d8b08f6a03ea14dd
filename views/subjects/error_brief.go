package subjects

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// errorBriefs are short forms of errors that the diagnosis recognises, in the order in which they are tried. An error has the
// form when it names what names says and holds one of the phrases, where there are any.
var errorBriefs = [...]struct {
	names   alerts.Naming
	phrases string // parted by |, lower case
	brief   backend.Literal
}{
	{0, "setup command", "setup command failed"},
	{0, "preview_token_creation_failed", "no token was made"},
	{0, "preview_creation_failed", "no address was made"},
	{0, "invalid_preview_url", "no address in answer"},
	{0, "url_parse_failed", "address unreadable"},
	{0, "reason: not_configured", "port not exposed"},
	{0, "unsafe_or_invalid_tar", "archive refused"},
	{0, "tar_extract_failed", "unpacking failed"},
	{0, "expects a binary file-like object", "no bytes to write"},
	{alerts.NamesSchema, "", "ref version not read"},
	{alerts.NamesStrict, "", "ref: unknown fields"},
	{alerts.NamesSnapshot, "", "no backup bucket"},
	{alerts.NamesSQLite, "", "no SQLite storage"},
	{alerts.NamesModule, "", "capability missing"},
	{alerts.NamesBinding, "", "binding missing"},
	{alerts.NamesPOSIX, "", "host is not POSIX"},
	{alerts.NamesRuntime, "", "runtime unsupported"},
	{alerts.NamesSharing, "", "sharing not declared"},
	{alerts.NamesQuota, "", "no instance left"},
	{alerts.NamesImage, "rate limit", "image pull limited"},
	{alerts.NamesImage, "denied|unauthorized|forbidden", "image access denied"},
	{alerts.NamesImage, "unknown|not found|no such|does not exist|not be found|unable to find", "image not found"},
	{alerts.NamesImage, "", "image does not start"},
	{alerts.NamesEngine, "", "engine unreachable"},
	{alerts.NamesSpace, "", "no space left"},
	{alerts.NamesIsolate, "", "agent out of memory"},
	{alerts.NamesMemory, "137", "killed: exit 137"},
	{alerts.NamesMemory, "", "out of memory"},
	{alerts.NamesStorage, "nosuchbucket|not found|does not exist", "bucket not found"},
	{alerts.NamesStorage, "denied|forbidden|unauthorized|401|403", "bucket access denied"},
	{alerts.NamesStorage, "unreachable|timeout|timed out|refused|reset|lost", "R2 unreachable"},
	{alerts.NamesStorage, "", "object storage fails"},
	{alerts.NamesDatabase, "lost|reset|refused|network|timeout|timed out", "D1 connection lost"},
	{alerts.NamesDatabase, "", "D1 database fails"},
	{alerts.NamesStatement, "no such table", "D1 table missing"},
	{alerts.NamesStatement, "", "D1 refuses statement"},
	{alerts.NamesWatches, "", "file watch limit"},
	{alerts.NamesRate, "", "rate limited"},
	{alerts.NamesAuth, "", "credentials refused"},
	{alerts.NamesPath, "not exist|no such file|enoent", "tmpdirRoot missing"},
	{alerts.NamesPath, "tmpdirroot", "tmpdirRoot unusable"},
	{alerts.NamesPath, "erofs|read-only", "file system readonly"},
	{alerts.NamesPath, "", "permission denied"},
	{alerts.NamesDenied, "erofs|read-only", "file system readonly"},
	{alerts.NamesDenied, "", "permission denied"},
	{alerts.NamesReplaced, "", "container replaced"},
	{alerts.NamesGone, "container", "container is gone"},
	{alerts.NamesGone, "sandbox|instance", "sandbox is gone"},
	{alerts.NamesCleaned, "", "no such file"},
	{alerts.NamesDestroy, "", "destroy failed"},
	{0, "enotempty|directory not empty", "directory not empty"},
	{0, "ebusy|resource busy", "resource busy"},
	{0, "eof in archive", "archive cut short"},
	{alerts.NamesNetwork, "refused", "connection refused"},
	{alerts.NamesNetwork, "timed out|timeout|etimedout", "connection timed out"},
	{alerts.NamesNetwork, "getaddrinfo|no such host|enotfound|resolve|dns", "name not resolved"},
	{alerts.NamesNetwork, "tls|certificate|x509", "TLS failure"},
	{alerts.NamesNetwork, "lost|closed|reset|hang up|broken pipe", "connection lost"},
	{alerts.NamesNetwork, "", "network error"},
	{0, "is restarting", "container restarting"},
}

var (
	// schemaRange finds which version a reference has and which the release reads.
	schemaRange = regexp.MustCompile(`(?i)schema ?version (\d{1,3})\b.*\brange (\d{1,3})(?:-|\.\.| to )(\d{1,3})\b`)
	// noAnswer finds how long an answer was waited for, in milliseconds or seconds.
	noAnswer = regexp.MustCompile(`(?i)did not (?:answer|respond)\b.*?\b(\d+) ?(ms|s)\b`)
	// serverError finds the status with which a server says that it failed.
	serverError = regexp.MustCompile(`\banswered (5\d\d)\b`)
)

// errorBrief is the short form of an error that the diagnosis recognises; empty for any other.
func errorBrief(text string) backend.Safe {
	if m := schemaRange.FindStringSubmatch(text); m != nil {
		return backend.Textf("ref v%s, reads %s-%s", plain(m[1]), plain(m[2]), plain(m[3]))
	}
	if m := noAnswer.FindStringSubmatch(text); m != nil {
		seconds := m[1]
		if m[2] == "ms" {
			seconds = seconds[:max(len(seconds)-3, 0)]
		}
		if seconds != "" {
			return backend.Textf("no answer in %ss", plain(seconds))
		}
	}
	low := strings.ToLower(text)
	names := alerts.NamesIn(low)
	for i := range errorBriefs {
		b := &errorBriefs[i]
		if names&b.names == b.names && (b.phrases == "" || holdsAny(low, b.phrases)) {
			return backend.Text(b.brief)
		}
	}
	if m := serverError.FindStringSubmatch(text); m != nil {
		return backend.Textf("server error %s", plain(m[1]))
	}
	return backend.Safe{}
}

// holdsAny reports whether a text holds one of the phrases, which | parts. A number counts only where it stands alone: in
// `3401ms` and in an id it says nothing.
func holdsAny(text, phrases string) bool {
	for p := range strings.SplitSeq(phrases, "|") {
		switch _, err := strconv.Atoi(p); {
		case err != nil && strings.Contains(text, p):
			return true
		case err == nil && slices.Contains(strings.FieldsFunc(text, partsNumbers), p):
			return true
		}
	}
	return false
}

// partsNumbers reports whether a rune can stand beside a number that is not part of an id.
func partsNumbers(r rune) bool {
	return strings.ContainsRune(" \t\n=:,;.()[]'\"", r)
}
