package backend

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestHintsMissNoSecret builds texts of fragments that the expressions look for and checks that what the cheap test
// keeps off a text would not have changed it.
func TestHintsMissNoSecret(t *testing.T) {
	parts := []string{"API_KEY", "apikey", "ToKeN", "secret", "passwd", "PASSWORD", "credential", "private-key", "access_key",
		"STORE_KEY", "[\"--token\", \"", "https://stream-eu.x/", "Signature", "Authorization", "proxy-authorization", "Bearer ", "=", ": ", "\"", "sk-", "ghp_", "github_pat_", "xoxb-", "AKIA",
		"ASIA", "Cookie", "curl ", " -u ", "--password ", "passphrase", "glpat-", "eyJ", ".", "-----BEGIN RSA PRIVATE KEY-----", "https://", "u:p", "@", "npm_0123456789abcdefABCDEF0123456789", "hf_0123456789abcdefABCDEF0123456789", "AIza0123456789abcdefABCDEF0123456789", "pypi-0123456789abcdefABCDEF0123456789", "?sig=", "&hmac=", "pw=", "pass=", "pwd=", "env ", "A=b ", "mysql ", "redis-cli ", "login ", " -a ", " -p ", "-passin ", "pass:", " -b ", "{", "<", ">", "&sas=", "wss://", "\"pw\":\"", "%3D", "{\"a\":\"", "[\"", "abcdefgh12345678", "ABCDEFGH12345678",
		" ", "x", "\u017f", "\u212a", "ecret", "ey", "é", "\n"}
	rng := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for range 30_000 {
		var b strings.Builder
		for range 1 + rng.IntN(7) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		s := b.String()
		all := maskHinted(s, hintAll)
		if all != s {
			matched++
		}
		if got := maskShapes(s); got != all {
			t.Fatalf("%q becomes %q with the shapes that the cheap test names, %q with all", s, got, all)
		}
	}
	if matched < 1000 {
		t.Fatalf("only %d texts matched: the test tests nothing", matched)
	}
	if s := `{"name":"box","state":"open","lastAttemptAt":1767225600000,"lastError":"ref schemaVersion 4 at https://x/y"}`; hintsOf(s) != 0 {
		t.Errorf("an ordinary entry is searched: %s", s)
	}
}
