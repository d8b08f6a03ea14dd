package alerts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts/cause"
)

// causesIn are the variants of each cause among texts, as one State has them, with how many texts the cause has.
func causesIn(texts []string) map[string]map[string]int {
	var r cause.Reader
	var weak []string
	for _, x := range texts {
		if r.Read(x); r.Weak {
			weak = append(weak, string(r.Loose))
		}
	}
	var none *cause.Templates
	templates := none.Mine(weak, time.Time{}, looseFingerprint)
	out := map[string]map[string]int{}
	for _, x := range texts {
		r.Read(x)
		id := errorFingerprint(&r)
		if r.Weak {
			id = looseIn(templates, string(r.Loose))
		}
		if out[id] == nil {
			out[id] = map[string]int{}
		}
		out[id][string(r.Values)]++
	}
	return out
}

// names are identifiers and names of each kind that worlds give.
func names(r *rand.Rand) map[string]func() string {
	from := func(letters string, n int) func() string {
		return func() string {
			b := make([]byte, n)
			for i := range b {
				b[i] = letters[r.IntN(len(letters))]
			}
			return string(b)
		}
	}
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	return map[string]func() string{
		"6 letters": from(lower, 6), "10 letters": from(lower, 10), "letters and digits": from(lower+digits, 6), "mixed case": from(lower+strings.ToUpper(lower)+digits, 8),
		"hexadecimal": from("0123456789abcdef", 12), "syllables": func() string {
			return from("bdfgklmnprst", 1)() + from("aeiou", 1)() + from("bdfgkmp", 1)() + from("aou", 1)() + from("bdfgkmp", 1)() + from("aiou", 1)()
		},
		"pods": func() string {
			return "web-" + from("bcdfghjklmnpqrstvwxz2456789", 9)() + "-" + from("bcdfghjklmnpqrstvwxz2456789", 5)()
		},
	}
}

// idioms are error texts in other languages with a name, and with what went wrong in two ways.
var idioms = []struct{ text, one, other string }{
	{"Zugriff auf Speicher % @", "verweigert", "abgelaufen"},
	{"Der Behälter % ist @", "gelöscht", "überlastet"},
	{"Der Server % ist @", "überlastet", "abgeschaltet"},
	{"Der Server % @", "ist überlastet", "antwortet nicht mehr"},
	{"Le conteneur % a été @", "supprimé", "suspendu"},
	{"L'espace % n'a pas pu être ouvert : @", "délai dépassé après 5 s", "mémoire épuisée"},
	{"El disco % está @", "lleno", "roto"},
	{"No se pudo abrir el espacio %: @", "tiempo agotado", "memoria agotada"},
	{"Nie można otworzyć obszaru %: @", "przekroczono czas", "brak pamięci"},
	{"Soubor % @", "chybí", "zmizel"},
	{"Αδυναμία ανοίγματος χώρου %: @", "λήξη χρόνου", "έλλειψη μνήμης"},
	{"פתיחת סביבת העבודה % נכשלה: @", "תם הזמן", "אין זיכרון"},
	{"فشل فتح مساحة العمل % : @", "انتهت المهلة", "نفدت الذاكرة"},
	{"เปิดพื้นที่ทำงาน % ไม่ได้: @", "หมดเวลา 5 วินาที", "หน่วยความจำหมด"},
	{"कार्यक्षेत्र % नहीं खुला: @", "समय समाप्त", "मेमोरी समाप्त"},
	{"Không thể mở không gian %: @", "hết thời gian chờ", "hết bộ nhớ"},
	{"% çalışma alanı açılamadı: @", "zaman aşımı", "bellek yetersiz"},
	{"Не удалось открыть область %: @", "время истекло", "нет памяти"},
	{"작업 공간 %을 열 수 없습니다: @", "시간 초과", "메모리 부족"},
	{"容器 % @", "已被删除", "内存不足"},
	{"ワークスペース % を開けません: @", "時間切れ", "メモリ不足"},
	{"Falha ao abrir %: @", "tempo esgotado", "sem memória"},
	{"container % gestoppt: @", "Zeit abgelaufen", "Speicher voll"},
	{"volume % is @", "read-only", "detached"},
	{"failed with @ in lease %", "E1001", "E2002"},
	{"NTSTATUS @ in worker %", "0xc0000005", "0xc0000374"},
	{"user % refused by policy @", "P1", "P2"},
	{"region @ is not available for tenant %", "eu-west-1", "eu-west-2"},
	{"upstream of % answered HTTP @", "401 Unauthorized", "503 Service Unavailable"},
	{"connect ECONNREFUSED %.internal:@", "443", "8443"},
}

// One cause with a name that differs is one line without variants; of two causes each has its own count, on one line or on two.
func TestNamesMakeNoVariantsAndVerbsDo(t *testing.T) {
	kinds := names(rand.New(rand.NewPCG(9, 2)))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		name := kinds[kind]
		for _, x := range idioms {
			for _, n := range []int{7, 40} {
				var texts []string
				for range n {
					texts = append(texts, strings.NewReplacer("%", name(), "@", x.one).Replace(x.text))
				}
				got := causesIn(texts)
				if len(got) != 1 {
					t.Errorf("%s, %q: %d causes", kind, texts[0], len(got))
				}
				for _, values := range got {
					if v := VariantsOf(values); !v.IsZero() {
						t.Errorf("%s, %q: %s", kind, texts[0], v.Text())
					}
				}
			}
			var texts []string
			for i := range 30 {
				texts = append(texts, strings.NewReplacer("%", name(), "@", [...]string{x.one, x.other}[i%2]).Replace(x.text))
			}
			if said := twoOfFifteen(causesIn(texts)); said != "" {
				t.Errorf("%s, %q: %s", kind, texts[0], said)
			}
		}
	}
}

// twoOfFifteen says what is wrong with causes that should be two of fifteen texts, on one line or on two.
func twoOfFifteen(got map[string]map[string]int) string {
	var said []string
	right := len(got) <= 2
	for _, values := range got {
		n := 0
		for _, k := range values {
			n += k
		}
		v := VariantsOf(values)
		said = append(said, fmt.Sprint(n, " ", v.Text()))
		switch text := v.Text().String(); {
		case len(got) == 2:
			right = right && n == 15 && v.IsZero()
		default:
			right = right && v.Count == 2 && v.List[0].Subjects == 15 && v.List[1].Subjects == 15 && !strings.Contains(text, "none") && !strings.Contains(text, "others")
		}
	}
	if right {
		return ""
	}
	return strings.Join(said, "; ")
}
