// Program promql reads expressions, alerts and made-up series as JSON, and says with Prometheus' own parser, engine and
// templates what the expressions ask for and which alerts the series would fire. It stores nothing that outlives it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/tsdb"
)

const step = time.Minute

type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Annotations map[string]string `json:"annotations"`
}

type testCase struct {
	// In the notation of Prometheus' tests: series and its values, one a minute.
	Series  map[string]string `json:"series"`
	Minutes int               `json:"minutes"`
}

type input struct {
	Expressions []string   `json:"expressions"`
	Alerts      []alert    `json:"alerts"`
	Cases       []testCase `json:"cases"`
}

type matcher struct {
	Label string `json:"label"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

type selector struct {
	Metric   string    `json:"metric"`
	Matchers []matcher `json:"matchers"`
}

type parsed struct {
	Error     string     `json:"error,omitempty"`
	Selectors []selector `json:"selectors"`
	// Named in by, without, on, ignoring, group_left.
	Labels []string `json:"labels"`
}

type firing struct {
	Alert       string            `json:"alert"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func main() {
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	out := struct {
		Expressions []parsed   `json:"expressions"`
		Cases       [][]firing `json:"cases"`
	}{Expressions: []parsed{}, Cases: [][]firing{}}
	for _, text := range in.Expressions {
		out.Expressions = append(out.Expressions, parse(text))
	}
	for _, each := range in.Cases {
		fires, err := run(each, in.Alerts)
		check(err)
		out.Cases = append(out.Cases, fires)
	}
	check(json.NewEncoder(os.Stdout).Encode(out))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse(text string) parsed {
	found := parsed{Selectors: []selector{}, Labels: []string{}}
	expr, err := parser.ParseExpr(text)
	if err != nil {
		found.Error = err.Error()
		return found
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			one := selector{Metric: n.Name, Matchers: []matcher{}}
			for _, m := range n.LabelMatchers {
				if m.Name != labels.MetricName {
					one.Matchers = append(one.Matchers, matcher{m.Name, m.Type.String(), m.Value})
				}
			}
			found.Selectors = append(found.Selectors, one)
		case *parser.AggregateExpr:
			found.Labels = append(found.Labels, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				found.Labels = append(found.Labels, n.VectorMatching.MatchingLabels...)
				found.Labels = append(found.Labels, n.VectorMatching.Include...)
			}
		}
		return nil
	})
	return found
}

func run(each testCase, alerts []alert) ([]firing, error) {
	dir, err := os.MkdirTemp("", "promql-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := tsdb.Open(dir, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := fill(db, each.Series); err != nil {
		return nil, err
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: 30 * time.Second, LookbackDelta: 5 * step})
	fires := []firing{}
	for _, one := range alerts {
		found, err := evaluate(engine, db, one, each.Minutes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.Alert, err)
		}
		fires = append(fires, found...)
	}
	return fires, nil
}

func fill(db *tsdb.DB, series map[string]string) error {
	appender := db.Appender(context.Background())
	for name, values := range series {
		metric, samples, err := parser.ParseSeriesDesc(name + " " + values)
		if err != nil {
			return fmt.Errorf("%s %s: %w", name, values, err)
		}
		for minute, sample := range samples {
			if sample.Omitted {
				continue
			}
			at := int64(minute) * step.Milliseconds()
			if _, err := appender.Append(0, metric, at, sample.Value); err != nil {
				return err
			}
		}
	}
	return appender.Commit()
}

// As a rule manager would at each minute: what an expression gives for long enough without a gap fires at the end.
func evaluate(engine *promql.Engine, db storage.Queryable, one alert, minutes int) ([]firing, error) {
	hold := model.Duration(0)
	if one.For != "" {
		parsed, err := model.ParseDuration(one.For)
		if err != nil {
			return nil, err
		}
		hold = parsed
	}
	end := time.UnixMilli(int64(minutes) * step.Milliseconds())
	query, err := engine.NewRangeQuery(context.Background(), db, nil, one.Expr, time.UnixMilli(0), end, step)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	result := query.Exec(context.Background())
	matrix, err := result.Matrix()
	if err != nil {
		return nil, err
	}
	fires := []firing{}
	for _, series := range matrix {
		points := series.Floats
		due := end.Add(-time.Duration(hold)).UnixMilli()
		from := end.UnixMilli() + step.Milliseconds()
		for i := len(points) - 1; i >= 0 && points[i].T == from-step.Milliseconds(); i-- {
			from = points[i].T
		}
		if from > due {
			continue
		}
		annotations, err := expand(one, series.Metric, points[len(points)-1].F, end)
		if err != nil {
			return nil, err
		}
		fires = append(fires, firing{one.Alert, series.Metric.Map(), annotations})
	}
	return fires, nil
}

func expand(one alert, metric labels.Labels, value float64, at time.Time) (map[string]string, error) {
	annotations := map[string]string{}
	data := template.AlertTemplateData(metric.Map(), nil, "", promql.Sample{F: value})
	for name, text := range one.Annotations {
		source := "{{$labels := .Labels}}{{$value := .Value}}" + text
		nothing := func(context.Context, string, time.Time) (promql.Vector, error) { return nil, nil }
		expander := template.NewTemplateExpander(context.Background(), source, one.Alert, data, model.TimeFromUnixNano(at.UnixNano()), nothing, &url.URL{}, []string{"missingkey=error"})
		expanded, err := expander.Expand()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		annotations[name] = expanded
	}
	return annotations, nil
}
