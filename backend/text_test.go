package backend

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const hostileName = "\x1b]0;pwned\x07\u009b31m\u202e"

func TestCleanLeavesNothingThatActs(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":                     "plain",
		"größe 日本":                  "größe 日本",
		hostileName:                 "␛]0;pwned␇<U+009B>31m<U+202E>",
		"a\r\nb\tc":                 "a␍␊b␉c",
		"x\u200by":                  "x<U+200B>y",
		"\xff\xfe":                  "\uFFFD\uFFFD",
		"e\u0301\u0301\u0301\u0301": "e\u0301\u0301",
		"\U000E0041":                "<U+E0041>",
	} {
		if got := Clean(raw, 100).String(); got != want {
			t.Errorf("Clean(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestCleanBoundsItsLength(t *testing.T) {
	for _, raw := range []string{strings.Repeat("x", 1<<20), strings.Repeat("\u0301", 1<<20), strings.Repeat("\u202e", 1<<20), strings.Repeat("日", 1<<20)} {
		if n := utf8.RuneCountInString(Clean(raw, 50).String()); n > 58 {
			t.Errorf("%d characters of %q… are left, want about 50", n, raw[:6])
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add(hostileName, 10)
	f.Add("\xf0\x28\x8c\x28", 3)
	f.Fuzz(func(t *testing.T, raw string, limit int) {
		if limit < 1 || limit > 10_000 {
			return // no caller asks for such a limit
		}
		s := Clean(raw, limit).String()
		if !utf8.ValidString(s) {
			t.Fatalf("%q is not UTF-8", s)
		}
		for _, r := range s {
			if r < 0x20 || unsafeRune(r) {
				t.Fatalf("%q still holds %U", s, r)
			}
		}
		if again := Clean(s, len(s)+1).String(); again != s {
			t.Fatalf("cleaning twice changes %q to %q", s, again)
		}
	})
}

func TestIDKeepsTheRawIdentifierAndPrintsTheSafeOne(t *testing.T) {
	id := MustID(hostileName)
	if got := fmt.Sprintf("%v|%s|%q", id, id, id); strings.ContainsAny(got, "\x1b\x07\u009b\u202e") {
		t.Errorf("printed raw: %q", got)
	}
	b, err := json.Marshal(id)
	if err != nil || strings.ContainsAny(string(b), "\x1b\x07\u009b\u202e") {
		t.Errorf("JSON %q, %v", b, err)
	}
	var back ID
	if err := json.Unmarshal(b, &back); err != nil || back != id {
		t.Errorf("JSON does not give the identifier back: %q %v", back.Raw(), err)
	}
	if _, err := NewID(strings.Repeat("x", MaxIDBytes+1)); err == nil {
		t.Error("an identifier over 4 KiB was accepted")
	}
}

func FuzzQuoteJSON(f *testing.F) {
	f.Add(hostileName)
	f.Add("\U0010ffff\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		q := QuoteJSON(s)
		for _, r := range q {
			if r < 0x20 || unsafeRune(r) {
				t.Fatalf("%q holds %U", q, r)
			}
		}
		var back string
		if err := json.Unmarshal([]byte(q), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Fatalf("%q reads back as %q, %v", q, back, err)
		}
	})
}

func TestCleanShowsEveryIgnorableCharacter(t *testing.T) {
	for _, r := range []rune{0x34f, 0x61c, 0x180b, 0x180f, 0x2065, 0x3164, 0xfe00, 0x1bca0, 0x1d173, 0xe0041, 0xe01ef, 0xf0000} {
		want := fmt.Sprintf("a<U+%04X>b", r)
		if got := Clean("a"+string(r)+"b", 50).String(); got != want {
			t.Errorf("%U: %q, want %q", r, got, want)
		}
	}
}

func TestCleanerMasksOurSecretsInEveryForm(t *testing.T) {
	secret := "p@ss/word+1\"x"
	c := NewCleaner(secret)
	basic := func(user string) string { return base64.StdEncoding.EncodeToString([]byte(user + ":" + secret)) }
	for _, raw := range []string{basic(""), basic("u"), basic("me"), basic("bob"), secret, "a=p%40ss%2Fword%2B1%22x", `{"v":"p@ss/word+1\"x"}`, "cEBzcy93b3JkKzEieA=="} {
		if got := c.Mask(raw); !strings.Contains(got, masked) {
			t.Errorf("%q stays %q", raw, got)
		}
	}
}

// What a terminal does not draw is marked also where something else is masked.
func TestInvisibleCharactersAreMarkedBesideASecret(t *testing.T) {
	for raw, want := range map[string]string{
		"na\u200bme api\u200bKey=s3cr3t-value end\u2060":         "na<U+200B>me api<U+200B>Key=‹masked› end<U+2060>",
		"na\u200bme apiKey=s3cr3t-value \u034fend":               "na<U+200B>me apiKey=‹masked› <U+034F>end",
		"apiKey=s3c\u200br3t-value; a\u200bb token=s3cr3t-value": "apiKey=‹masked›; a<U+200B>b token=‹masked›",
		`x\u200by apiKey=s3cr3t-value`:                           `x\u200by apiKey=‹masked›`,
	} {
		if got := NewCleaner().Clean(raw, 500).String(); got != want {
			t.Errorf("%q became %q, want %q", raw, got, want)
		}
	}
}

func TestCleanerMasksAgentsSecrets(t *testing.T) {
	c := NewCleaner()
	for raw, gone := range map[string]string{
		"OPENAI_API_KEY=sk-demo-123456 npm test":                         "sk-demo-123456",
		"env DB_PASSWORD='hunter2hunter' ./run":                          "hunter2hunter",
		"Authorization: Bearer abcdef0123456":                            "abcdef0123456",
		"https://user:topsecret@host/x":                                  "topsecret",
		"key AKIAABCDEFGHIJKLMNOP":                                       "AKIAABCDEFGHIJKLMNOP",
		"tok eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ":                         "eyJzdWIiOiIx",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAA":                     "MIIE",
		`{"github_token":"ghp_0123456789abcdef0123"}`:                    "ghp_0123456789abcdef0123",
		`raw "{\"apiKey\":\"s3cr3t-value\"}"`:                            "s3cr3t-value",
		`raw "{\\\"apiKey\\\":\\\"s3cr3t-value\\\"}"`:                    "s3cr3t-value",
		`{"password":"two words"}`:                                       "words",
		`{"authorization":"Basic dXNlcjpwYXNz"}`:                         "dXNlcjpwYXNz",
		"Cookie: sid=abc123; theme=dark":                                 "abc123",
		"set-cookie: sid=abc123; Path=/":                                 "abc123",
		"curl -s -H 'Cookie: sid=abc123' https://x/y":                    "abc123",
		"curl -u mara:hunter2 https://x/y":                               "hunter2",
		"curl -sSu mara:hunter2 https://x/y":                             "hunter2",
		"curl --user=mara:hunter2 https://x/y":                           "hunter2",
		"mysql --password hunter2 db":                                    "hunter2",
		"tool --api-key 'a b c' run":                                     "b c",
		"gpg --passphrase x --batch":                                     " x ",
		`{"err":"apikey\u034f=s3cr3t-value"}`:                            "s3cr3t-value",
		`{"err":"api\u200bKey=s3cr3t-value"}`:                            "s3cr3t-value",
		`{"err":"Coo\u2060kie: sid=s3cr3t"}`:                             "s3cr3t",
		"https://s3cr3tvalue@github.com/x":                               "s3cr3tvalue",
		"--password 'hunter2 two' x":                                     "hunter2",
		"--password\thunter2":                                            "hunter2",
		`curl -u "bob smith:hunter2" x`:                                  "hunter2",
		"password => 'hunter2'":                                          "hunter2",
		`Authorization: Token token="s3cr3t-value"`:                      "s3cr3t-value",
		`Authorization: Digest username="x", response="s3cr3t", uri="/"`: "s3cr3t",
		"MYSQL_PWD=hunter2 mysql":                                        "hunter2",
		"cookie: a=b\r\n c=s3cr3t":                                       "s3cr3t",
		`raw "cookie: a=b\r\n c=s3cr3t"`:                                 "s3cr3t",
		"&quot;apiKey&quot;:&quot;s3cr3t&quot;":                          "s3cr3t",
		"<password>hunter2</password>":                                   "hunter2",
		`\u0022apiKey\u0022:\u0022s3cr3t\u0022`:                          "s3cr3t",
		"curl --oauth2-bearer s3cr3t x":                                  "s3cr3t",
		"apikey\u034f=s3cr3t-value":                                      "s3cr3t-value",
		"api\u200bKey=s3cr3t-value":                                      "s3cr3t-value",
		`raw "curl -su \"mara:hunter2\" x"`:                              "hunter2",
		`curl -b "sid=abc123" x`:                                         "abc123",
		"curl --cookie sid=abc123 x":                                     "abc123",
		"proxy-authorization: Digest abcdef0123456":                      "abcdef0123456",
		"docker login -u bob -p hunter2":                                 "hunter2",
		"export DB_PASS='two words hunter2' && run":                      "words",
		`export DB_PASS="two words hunter2" && run`:                      "hunter2",
		"DBPASS=hunter2 run":                                             "hunter2",
		"aws configure set aws_secret_access_key hunter2":                "hunter2",
		"wrangler secret put X <<< hunter2":                              "hunter2",
		"gh auth login --with-token <<< hunter2":                         "hunter2",
		"gh auth login --with-token <<<'hunter2 x'":                      "hunter2",
		"heroku config:set A=hunter2 B=c":                                "hunter2",
		"flyctl secrets set A=b B='hunter2 x'":                           "hunter2",
		"kubectl create secret generic a --from-literal=k=hunter2":       "hunter2",
		"kubectl create cm a --from-literal k=hunter2":                   "hunter2",
		"sshpass -p hunter2 ssh x":                                       "hunter2",
		"echo 'machine github.com login me password hunter22'":           "hunter22",
		"npm config set //registry.npmjs.org/:_authToken hunter22":       "hunter22",
		"openssl enc -k hunter22":                                        "hunter22",
		"redis-cli -a hunter2 ping":                                      "hunter2",
		"echo hunter2 | gh auth login --with-token":                      "hunter2",
		"printf '%s' 'hunter2' | docker login --password-stdin x":        "hunter2",
		"echo -n hunter2 | npx wrangler secret put KEY":                  "hunter2",
		"echo bob:hunter2 | chpasswd":                                    "hunter2",
		"mysql -phunter2 db":                                             "hunter2",
		"openssl rsa -passin pass:hunter2":                               "hunter2",
		"pwd=hunter2":                                                    "hunter2",
		`{"apiKey":["s3cr3t-value","x"]}`:                                "s3cr3t-value",
		`{"apiKeys":["x","s3cr3t-value"]}`:                               "s3cr3t-value",
		`{"password":{"value":"s3cr3t-value"}}`:                          "s3cr3t-value",
		`raw "{\"secret\":{\"v\":\"s3cr3t\"}}"`:                          "s3cr3t",
		`{"cookie": ["sid=abc123"]}`:                                     "abc123",
		`["Cookie", "sid=abc123"]`:                                       "abc123",
		`["Authorization", "Basic dXNlcjpwYXNz"]`:                        "dXNlcjpwYXNz",
		"cmd --pass hunter2":                                             "hunter2",
		"cmd --db-pwd hunter2":                                           "hunter2",
		"cmd -password hunter2":                                          "hunter2",
		"pass=hunter2":                                                   "hunter2",
		"export AGENTUITY_CLI_KEY=s3cr3t-value; x":                       "s3cr3t-value",
		`["node","y.js","--password","hunter2 x"]`:                       "hunter2",
		`raw "[\"--api-key\", \"hunter2\"]"`:                             "hunter2",
		"stream https://streams-usc.agentuity.cloud/stream_S3cr3t; x":    "S3cr3t",
		"DB_PASS=hunter2 run":                                            "hunter2",
		`{"pw":"hunter2"}`:                                               "hunter2",
		"passcode: hunter2":                                              "hunter2",
		"AccountKey=aGVsbG8gd29ybGQ==;EndpointSuffix=x":                  "aGVsbG8gd29ybGQ",
		"https://h/b?sv=2024&sig=aGVsbG8gd29ybGQ":                        "aGVsbG8gd29ybGQ",
		"npm_0123456789abcdefghijABCDEFGHIJ012345":                       "0123456789abcdefghij",
		"body=%7B%22password%22%3A%22hunter2%22%7D":                      "hunter2",
		"apiKey%3Ds3cr3t%2Dvalue":                                        "s3cr3t",
	} {
		if got := c.Clean(raw, 500).String(); strings.Contains(got, gone) || !strings.Contains(got, masked) {
			t.Errorf("%q became %q", raw, got)
		}
	}
	for _, raw := range []string{"max_instances reached: 60/60", "state=failed", "author: mara", "ratio 1:2",
		"docker run -u 1000:1000 box", "curl -o out.txt http://host/x", "no cookie was sent", "--tokens", "echo done | tee token.log", "echo hello", `Unexpected token: "}"`, "tokens used: 12", "PWD=/srv/agents", "mysql -p db", "--- PASS: TestStops (0.00s)", "pass: 12 of 12",
		`{"usage":{"input_tokens":12,"total_tokens":{"in":12,"out":30}}}`, "the word pass, then --pass", "a %3D b", "the signal was sig=9", "--passthrough yes", "bypass=true", "BYPASS=true", "git config set user.name mara", "the secrets set, a=b", "na\u00efve \u65e5\u672c"} {
		if got := c.Clean(raw, 500).String(); got != raw {
			t.Errorf("%q holds no secret and became %q", raw, got)
		}
	}
}

func TestValueHasThreeOutcomes(t *testing.T) {
	type doc struct {
		A Value[int] `json:"a,omitzero"`
		B Value[int] `json:"b,omitzero"`
		C Value[int] `json:"c,omitzero"`
	}
	b, err := json.Marshal(doc{A: Known(0), C: NotApplicable[int]()})
	if err != nil || string(b) != `{"a":0,"b":null}` {
		t.Errorf("%s %v", b, err)
	}
	var d doc
	if err := json.Unmarshal(b, &d); err != nil || !d.A.IsKnown() || d.B.IsKnown() {
		t.Errorf("%+v %v", d, err)
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "7d": 7 * 24 * time.Hour, "1h30m": 90 * time.Minute, "0s": 0} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.Std() != want {
			t.Errorf("%s: %s %v", text, d.Std(), err)
		}
		out, _ := d.MarshalText()
		var back Duration
		if err := back.UnmarshalText(out); err != nil || back != d {
			t.Errorf("%s is written as %s", text, out)
		}
	}
	for _, bad := range []string{"", "5", "-5s", "-1d", "xd", "ten minutes", "1e99d"} {
		var d Duration
		if err := d.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, d.Std())
		}
	}
	for text, want := range map[string]Size{"100kB": 100_000, "64MB": 64_000_000, "1GiB": 1 << 30, "17": 17, "1.5MB": 1_500_000} {
		var z Size
		if err := z.UnmarshalText([]byte(text)); err != nil || z != want {
			t.Errorf("%s: %d %v", text, z, err)
		}
	}
	for _, bad := range []string{"", "-1", "10 parsecs", "1e30TB", "NaN"} {
		var z Size
		if err := z.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %d", bad, z)
		}
	}
}

func TestConditionComesFromTimestamps(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) Value[time.Time] { return Known(now.Add(-d)) }
	none := NotApplicable[time.Time]()
	for name, c := range map[string]struct {
		w    Workspace
		want Condition
	}{
		"last attempt succeeded": {Workspace{LastAttemptAt: ago(time.Hour), LastSuccessAt: ago(time.Hour)}, CondWorking},
		"never attempted":        {Workspace{LastAttemptAt: none, LastSuccessAt: none, LastOpAt: none}, CondUnused},
		"attempts, no success":   {Workspace{LastAttemptAt: ago(time.Hour), LastSuccessAt: none, LastOpAt: none}, CondFailing},
		"one young attempt":      {Workspace{LastAttemptAt: ago(time.Minute), LastSuccessAt: ago(time.Hour)}, CondBusy},
		"first attempt, young":   {Workspace{LastAttemptAt: ago(time.Minute), LastSuccessAt: none, LastOpAt: none}, CondBusy},
		"failed, young attempt":  {Workspace{Class: ClassFailed, LastAttemptAt: ago(time.Minute), LastSuccessAt: ago(time.Hour)}, CondFailing},
		"unreadable times":       {Workspace{}, CondUnknown},
		"only the legacy field":  {Workspace{LastAttemptAt: none, LastSuccessAt: none, LastOpAt: ago(time.Hour)}, CondUnknown},
		"registry unreadable":    {Workspace{Unreadable: true, LastAttemptAt: ago(time.Hour), LastSuccessAt: ago(time.Hour)}, CondUnknown},
	} {
		if got := c.w.Condition(now, 5*time.Minute); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 processes", 1: "1 process", 2: "2 processes", 1284: "1,284 processes"} {
		if got := Counted(n, "process", "processes"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
