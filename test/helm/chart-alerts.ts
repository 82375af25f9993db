// Reads the alerts that the chart renders, and every expression of its dashboard.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHART, renderObjects, type RenderOptions } from '../support/helm.ts'
import type { Alert } from '../support/prometheus/promql.ts'

export interface ChartAlert extends Alert {
  readonly labels: Readonly<Record<string, string>>
}

export const chartAlerts = async (options: RenderOptions = {}): Promise<readonly ChartAlert[]> => {
  const objects = await renderObjects(options)
  const rule = objects.find(({ kind }) => kind === 'PrometheusRule')
  const spec = rule?.['spec'] as
    { readonly groups: readonly { readonly rules: readonly ChartAlert[] }[] } | undefined
  return (spec?.groups ?? []).flatMap(({ rules }) => rules)
}

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: unknown }[]
  }
}

const DASHBOARD = JSON.parse(readFileSync(join(CHART, 'files/dashboard.json'), 'utf8')) as Dashboard

export const dashboardVariables = (): readonly string[] =>
  DASHBOARD.templating.list.map(({ name }) => name)

/** As Grafana has written them. */
export const dashboardSources = (): readonly string[] => [
  ...DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...DASHBOARD.templating.list.flatMap(({ query }) => queryOf(query)),
]

/** `label_values(metric, label)` */
const queryOf = (query: unknown): readonly string[] => {
  if (typeof query !== 'object' || query === null || !('query' in query)) return []
  const { query: text } = query
  const found = /^label_values\((.+), (\w+)\)$/.exec(String(text))
  if (found === null) throw new Error(`not a query of label values: ${String(text)}`)
  return [`count by (${found[2] ?? ''}) (${found[1] ?? ''})`]
}

/** As Prometheus gets them. */
export const dashboardExpressions = (): readonly string[] =>
  dashboardSources().map((expr) =>
    expr
      .replaceAll('$__rate_interval', '5m')
      .replaceAll('$__range', '1h')
      .replaceAll(/\$(gateways|operator|api)\b/g, '.*'),
  )
