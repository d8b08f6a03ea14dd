package cause

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var minedAt = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func idOf(s string) string { return "id of " + s }

// mined reads texts as the engine does, and returns what identifies each.
func mined(t *Templates, texts []string, at time.Time) (*Templates, map[string]string) {
	var r Reader
	var weak []string
	for _, x := range texts {
		if r.Read(x); r.Weak {
			weak = append(weak, string(r.Loose))
		}
	}
	t = t.Mine(weak, at, idOf)
	ids := map[string]string{}
	for _, x := range texts {
		r.Read(x)
		id := "words " + string(r.Words)
		if r.Weak {
			if id = t.Find(string(r.Loose)); id == "" {
				id = idOf(string(r.Loose))
			}
		}
		ids[x] = id
	}
	return t, ids
}

// foreign are error texts in other languages, by kind; % is a name.
var foreign = []string{
	// German
	"Verbindung zu % fehlgeschlagen", "Datei % wurde nicht gefunden", "Zugriff auf % verweigert", "Der Speicher von % ist voll", "Zeitüberschreitung beim Öffnen von %", "Sandbox % konnte nicht gestartet werden",
	// French
	"Impossible de joindre %", "Échec de la connexion à %", "Le conteneur % était déjà supprimé", "« % » n'a pas pu démarrer", "Espace disque insuffisant pour %", "Accès refusé à %",
	// Spanish, Portuguese
	"No se pudo conectar con %", "El contenedor de % no existe", "La sesión de % ha caducado", "Falha ao conectar com %", "O arquivo de % não foi encontrado",
	// Russian
	"Не удалось подключиться к %", "Файл % не найден", "Доступ к % запрещён", "Контейнер % уже удалён",
	// Japanese
	"%への接続に失敗しました", "%のファイルが見つかりません", "サンドボックス「%」を起動できませんでした", "%の容量が不足しています",
	// Chinese
	"无法连接到%的沙箱", "沙箱%启动失败", "找不到文件%", "%的磁盘空间不足",
	// Korean
	"%에 연결할 수 없습니다", "%의 파일을 찾을 수 없습니다", "%의 디스크 공간이 부족합니다",
	// Polish, Turkish, Italian
	"Nie można połączyć się z %", "% ile bağlantı kurulamadı", "Impossibile connettersi a %",
}

var latin = strings.Fields("anna bruno carla dieter emil franz gerda hanna igor jana karl lena mario nina otto paula quirin rosa stefan tina ulf vera wanda xaver yvonne zoe")

func nameFor(form string, i int) string {
	scripts := map[string]string{
		"Рр": "", "а": "анна борис вера григорий дарья егор жанна захар ирина кирилл лариса михаил", "の": "花子 太郎 次郎 さくら ケンジ 美咲 翔太 陽菜 エリカ 直樹 結衣 大輔", "に": "花子 太郎 次郎 さくら ケンジ 美咲 翔太 陽菜 エリカ 直樹 結衣 大輔", "を": "花子 太郎 次郎 さくら ケンジ 美咲 翔太 陽菜 エリカ 直樹 結衣 大輔",
		"不": "小明 小红 欧阳娜娜 张伟 王芳 李娜 刘洋 陈静 杨勇 赵敏 黄磊 周杰", "沙": "小明 小红 欧阳娜娜 张伟 王芳 李娜 刘洋 陈静 杨勇 赵敏 黄磊 周杰", "습": "민수 지영 현우 서연 준호 하은 도윤 수아 시우 지호 예준 은서",
	}
	for mark, names := range scripts {
		if names != "" && strings.Contains(form, mark) {
			f := strings.Fields(names)
			return f[i%len(f)]
		}
	}
	return latin[i%len(latin)]
}

func TestTextsInOtherLanguages(t *testing.T) {
	for _, n := range []int{1, 2, 6, 12} {
		var texts []string
		kind := map[string]string{}
		for _, form := range foreign {
			for i := range n {
				x := strings.ReplaceAll(form, "%", nameFor(form, i))
				texts = append(texts, x)
				kind[x] = form
			}
		}
		_, ids := mined(nil, texts, minedAt)
		causes := map[string]map[string]int{}
		byID := map[string]map[string]bool{}
		for _, x := range texts {
			k := kind[x]
			if causes[k] == nil {
				causes[k] = map[string]int{}
			}
			causes[k][ids[x]]++
			if byID[ids[x]] == nil {
				byID[ids[x]] = map[string]bool{}
			}
			byID[ids[x]][k] = true
		}
		split, mixed := 0, 0
		for _, form := range foreign {
			if len(causes[form]) != 1 {
				split++
				t.Logf("%d: %q is %d causes: %v", n, form, len(causes[form]), causes[form])
			}
		}
		for id, kinds := range byID {
			if len(kinds) > 1 {
				mixed++
				t.Logf("%d: %q holds %v", n, id, kinds)
			}
		}
		if split > 0 || mixed > 0 {
			t.Errorf("%d names: %d kinds are split, %d causes hold several", n, split, mixed)
		}
	}
}

func TestTemplatesOfTextsWithoutListedWords(t *testing.T) {
	var texts []string
	for _, n := range latin[:6] {
		texts = append(texts, "verbindung zu "+n+" wurde abgelehnt", "datei "+n+" fehlt leider")
	}
	all, ids := mined(nil, texts, minedAt)
	causes := map[string]int{}
	for _, id := range ids {
		causes[id]++
	}
	if len(causes) != 2 {
		t.Errorf("%d causes: %v", len(causes), causes)
	}
	if got := all.Find("verbindung zu olga wurde abgelehnt"); got != ids["verbindung zu anna wurde abgelehnt"] {
		t.Errorf("a further name has %q", got)
	}
	if got := all.Find("verbindung zu olga wurde server"); got != "" { // a listed word is another cause
		t.Errorf("another cause has %q", got)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(texts), func(i, k int) { texts[i], texts[k] = texts[k], texts[i] })
		other, again := mined(nil, texts, minedAt)
		if !slices.Equal(other.List(), all.List()) {
			t.Fatalf("in another order: %v, want %v", other.List(), all.List())
		}
		for _, x := range texts {
			if again[x] != ids[x] {
				t.Fatalf("in another order %q has %q, want %q", x, again[x], ids[x])
			}
		}
	}
	// what comes later joins what is kept, and changes no identity
	_, later := mined(NewTemplates(all.List()), []string{"verbindung zu aaron wurde abgelehnt", "neues leid"}, minedAt.Add(time.Hour))
	if later["verbindung zu aaron wurde abgelehnt"] != ids["verbindung zu anna wurde abgelehnt"] || later["neues leid"] != "id of neues * leid *" {
		t.Errorf("later %v", later)
	}
}

// TestNamesDoNotSplitCauses: neither vowels of a name nor how many bare words a sentence has decide what is one cause and which values tell.
func TestNamesDoNotSplitCauses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	name := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	bindings := []string{"SANDBOX", "FILES", "CACHE"}
	for _, c := range []struct {
		text    func(i int) string
		binding bool
	}{
		{func(i int) string { return fmt.Sprintf("binding '%s' no declarado en %s", bindings[i%3], name(7)) }, true},
		{func(i int) string {
			return fmt.Sprintf("No se pudo abrir el espacio “%s”: binding '%s' no declarado", name(7), bindings[i%3])
		}, true},
		{func(i int) string {
			return fmt.Sprintf("cannot open %s: binding '%s' is not declared", name(7), bindings[i%3])
		}, true},
		{func(int) string { return fmt.Sprintf("X%s Y%s is not a member of %s", name(5), name(6), name(8)) }, false},
		{func(int) string { return fmt.Sprintf("Verbindung zu %s wurde von %s getrennt", name(6), name(7)) }, false},
	} {
		for _, n := range []int{30, 400} {
			var texts []string
			var reader Reader
			for i := range n {
				x := c.text(i)
				texts = append(texts, x)
				if reader.Read(x); c.binding && !strings.Contains(string(reader.Values), "binding\x1f'"+bindings[i%3]+"'") {
					t.Fatalf("%q has the values %q", x, reader.Values)
				}
			}
			_, ids := mined(nil, texts, minedAt)
			causes := map[string]int{}
			for _, x := range texts {
				causes[ids[x]]++
			}
			if len(causes) != 1 {
				t.Errorf("%q: %v", texts[0], causes)
			}
		}
	}
}

// randomText is a text that has nothing in common with others.
func randomText(r *rand.Rand) string {
	words := make([]string, 3+r.IntN(6))
	for i := range words {
		b := make([]byte, 4+r.IntN(6))
		for k := range b {
			b[k] = "bcdfgklmnprstvwz"[r.IntN(16)]
			if k%2 == 1 {
				b[k] = "aeiou"[r.IntN(5)]
			}
		}
		words[i] = string(b)
	}
	return strings.Join(words, " ")
}

func TestTemplatesAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all *Templates
	var names []string
	for _, n := range latin {
		names = append(names, "verbindung zu "+n+" ist kaputt")
	}
	for part := range 20 {
		texts := slices.Clone(names)
		for range 1000 {
			texts = append(texts, randomText(r))
		}
		var ids map[string]string
		all, ids = mined(all, texts, minedAt.Add(time.Duration(part)*time.Minute))
		if len(all.List()) > maxTemplates {
			t.Errorf("%d templates", len(all.List()))
		}
		for _, x := range names {
			if ids[x] != ids[names[0]] {
				t.Errorf("%q has %q", x, ids[x])
			}
		}
	}
}

func BenchmarkMine(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		text func(i int) string
	}{
		{"names", func(i int) string {
			return fmt.Sprintf("Verbindung zu %s fehlgeschlagen", strings.Fields(randomText(r))[0])
		}},
		{"random", func(int) string { return randomText(r) }},
		{"cjk", func(i int) string {
			return fmt.Sprintf("%c%cへの接続に失敗しました", 0x4e00+i%97, 0x4e00+i%89)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			texts := make([]string, 10_000)
			for i := range texts {
				texts[i] = c.text(i)
			}
			b.ReportAllocs()
			for b.Loop() {
				var t *Templates
				t.Mine(texts, minedAt, idOf)
			}
		})
	}
}
