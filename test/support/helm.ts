// Renders the chart with values by helm, and returns objects, or what helm printed. It reads nothing of the user's.

import { parseAllDocuments } from 'yaml'
import { join } from 'node:path'
import { buildKube } from './kubernetes/build-kube.ts'
import { findPrograms, kubeAvailability, WHOLE_PROGRAM } from './kubernetes/kube-recipe.ts'
import { type CommandResult, runCommand } from './kubernetes/run-command.ts'
import { type Availability, availableWhenBuilt } from './availability.ts'
import { makeTempDir } from './temp-dir.ts'

export const CHART = join(import.meta.dirname, '../../helm/svc-gateway')

/** Kinds of Prometheus' operator: what there may be in a cluster besides its own. */
export const MONITORING = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule'].map(
  (kind) => `monitoring.coreos.com/v1/${kind}`,
)

export interface HelmOptions {
  /** On stdin, for `--values -`. */
  readonly values?: unknown
  readonly kubeconfig?: string
  readonly timeoutMs?: number
}

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [key: string]: unknown
}

/** The tests that need it are gated by it. */
export const helmAvailability = (): Availability =>
  availableWhenBuilt('helm', findPrograms({ whole: true }) !== undefined, () =>
    kubeAvailability({ whole: true }),
  )

/** Any exit code. */
export const runHelm = async (
  args: readonly string[],
  { values, kubeconfig, timeoutMs = 120_000 }: HelmOptions = {},
): Promise<CommandResult> => {
  const program = join(await buildKube({ whole: true }), WHOLE_PROGRAM)
  await using home = await makeTempDir()
  const environment = {
    HOME: home.path,
    // No kubeconfig of the machine's, and no cluster where none is given.
    KUBECONFIG: kubeconfig ?? join(home.path, 'none'),
  }
  return await runCommand({
    program,
    args: ['helm', ...args, ...(values === undefined ? [] : ['--values', '-'])],
    environment,
    timeoutMs,
    // JSON is YAML of any version: `off` stays a text.
    ...(values !== undefined && { input: JSON.stringify(values) }),
  })
}

export interface RenderOptions extends Pick<HelmOptions, 'values'> {
  readonly release?: string
  readonly namespace?: string
  /** Kinds of the cluster besides its own; `MONITORING` where absent. */
  readonly kinds?: readonly string[]
}

/** As text, with the tests and hooks. @throws with helm's words */
export const renderChart = async ({
  values = {},
  release = 'demo',
  namespace = 'gateways',
  kinds = MONITORING,
}: RenderOptions = {}): Promise<string> => {
  const versions = kinds.flatMap((kind) => ['--api-versions', kind])
  const args = ['template', release, CHART, '--namespace', namespace, ...versions]
  const { code, stdout, stderr } = await runHelm(args, { values })
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** What helm says when the chart is installed. No cluster is asked. @throws with helm's words */
export const renderNotes = async ({
  values = {},
  release = 'demo',
  namespace = 'gateways',
}: Omit<RenderOptions, 'kinds'> = {}): Promise<string> => {
  const args = ['install', release, CHART, '--namespace', namespace, '--dry-run=client']
  const { code, stdout, stderr } = await runHelm([...args, '--output', 'json'], { values })
  if (code !== 0) throw new Error(stderr)
  const { info } = JSON.parse(stdout) as { readonly info: { readonly notes: string } }
  return info.notes
}

export const objectsIn = (text: string): readonly KubernetesObject[] =>
  parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    const value = document.toJS() as KubernetesObject | null
    return value === null ? [] : [value]
  })

export const renderObjects = async (
  options: RenderOptions = {},
): Promise<readonly KubernetesObject[]> => objectsIn(await renderChart(options))
