package prometheus

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// accept asks for the classic text format, with UTF-8 names where the server can: the parser reads no OpenMetrics.
const accept = "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.9, text/plain;version=0.0.4;q=0.5"

// startTime is the metric by which client libraries tell when their process started, in epoch seconds.
const startTime = "process_start_time_seconds"

// checkMedia says what is wrong with a page's media type, nil when it may be a metrics page.
func checkMedia(header string, body []byte) error {
	media, _, err := mime.ParseMediaType(header)
	if header != "" && err != nil {
		return fmt.Errorf("the content type %q cannot be read", header)
	}
	switch media {
	case "text/plain":
		return nil
	case "":
		if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && (first[0] == '<' || first[0] == '[') {
			return errors.New("wrong path: this is no metrics page")
		}
		return nil
	case "text/html", "application/xhtml+xml":
		return errors.New("wrong path: the answer is a web page, not a metrics page")
	case "application/json":
		return errors.New("wrong path: the answer is JSON, not a metrics page")
	case "application/openmetrics-text":
		return errors.New("the server answers OpenMetrics although the classic text format was asked for; let its exporter heed the Accept header")
	case "application/vnd.google.protobuf":
		return errors.New("the server answers protobuf although the text format was asked for; let its exporter heed the Accept header")
	}
	return fmt.Errorf("wrong path: a metrics page is text/plain, this is %s", media)
}

// metrics is a parsed page.
type metrics struct {
	families map[string]*dto.MetricFamily
	names    []string // of all families, those without a sample too; sorted
	declared map[string]bool
	complete bool
	filtered bool // only the wanted families were parsed, because there are so many
	problem  string
	line     int // where the problem is, 0 without one
}

// parse reads a page. What precedes an error is kept. Of a page with more than limit samples only the wanted families
// are parsed, so that memory stays bounded by the page itself.
func parse(body []byte, limit int, wanted ...string) metrics {
	m := metrics{complete: true}
	if n := bytes.LastIndexByte(body, '\n') + 1; n < len(body) {
		m.complete = false
		m.line = bytes.Count(body, []byte("\n")) + 1
		m.problem = "the page ends in the middle of this line"
		body = body[:n]
	}
	samples := m.survey(body)
	if samples > limit {
		m.filtered = true
		body = keepOnly(body, wanted)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	m.families = families
	var bad expfmt.ParseError
	switch {
	case errors.As(err, &bad):
		m.complete, m.line, m.problem = false, bad.Line, bad.Msg
	case err != nil:
		m.complete, m.problem = false, err.Error()
	}
	return m
}

// survey counts the samples of a page and lists its families.
func (m *metrics) survey(body []byte) (samples int) {
	m.declared = map[string]bool{}
	last := ""
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		line = bytes.TrimLeft(line, " \t")
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			samples++
			if name := sampleName(line); string(name) != last {
				last = string(name)
				if !m.partOfDeclared(last) {
					m.declared[last] = true
				}
			}
			continue
		}
		if name, ok := typeName(line); ok {
			m.declared[name] = true
		}
	}
	for name := range m.declared {
		m.names = append(m.names, name)
	}
	slices.Sort(m.names)
	return samples
}

// partOfDeclared recognises the series of histograms and summaries, which are no families of their own.
func (m *metrics) partOfDeclared(name string) bool {
	for _, suffix := range [...]string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && m.declared[base] {
			return true
		}
	}
	return m.declared[name]
}

// sampleName is the metric name of a sample line: name{…} value, name value, or {"name",…} value.
func sampleName(line []byte) []byte {
	if q, ok := bytes.CutPrefix(line, []byte(`{"`)); ok {
		if i := bytes.IndexByte(q, '"'); i >= 0 {
			return q[:i]
		}
		return nil
	}
	if i := bytes.IndexAny(line, "{ \t"); i >= 0 {
		return line[:i]
	}
	return line
}

func typeName(line []byte) (string, bool) {
	fields := bytes.Fields(line[1:])
	if len(fields) < 2 || string(fields[0]) != "TYPE" {
		return "", false
	}
	return strings.Trim(string(fields[1]), `"`), true
}

// keepOnly empties every line that speaks of another metric; line numbers stay.
func keepOnly(body []byte, wanted []string) []byte {
	out := make([]byte, 0, 64<<10)
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		trimmed := bytes.TrimLeft(line, " \t")
		keep := false
		if len(trimmed) > 0 && trimmed[0] == '#' {
			name, ok := typeName(trimmed)
			keep = ok && slices.Contains(wanted, name)
		} else if len(trimmed) > 0 {
			keep = slices.Contains(wanted, string(sampleName(trimmed)))
		}
		if keep {
			out = append(out, line...)
		}
		out = append(out, '\n')
	}
	return out
}

// vector lists the samples of one family, if it is of one of the types.
func (m *metrics) vector(name string, types ...dto.MetricType) model.Vector {
	family := m.families[name]
	if family == nil || !slices.Contains(types, family.GetType()) {
		return nil
	}
	v, _ := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, family) // fails for unknown types only
	return v
}

// level lists the samples of a gauge, or of a metric without a type.
func (m *metrics) level(name string) model.Vector {
	return m.vector(name, dto.MetricType_GAUGE, dto.MetricType_UNTYPED)
}

// counted lists the samples of a counter, or of a metric without a type.
func (m *metrics) counted(name string) model.Vector {
	return m.vector(name, dto.MetricType_COUNTER, dto.MetricType_UNTYPED)
}

// started is when the process behind the page started, in epoch seconds; false when the page does not say.
func (m *metrics) started() (float64, bool) {
	v := m.level(startTime)
	if len(v) != 1 {
		return 0, false
	}
	return float64(v[0].Value), true
}
