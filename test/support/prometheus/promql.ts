// Evaluates expressions and alerts over made-up series with Prometheus' own parser and engine. Its program is built
// with Go into a cache outside the checkout.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { arch, platform } from 'node:process'
import { buildOnce, compile } from '../kubernetes/go-build.ts'
import { goLacking, goModule } from '../kubernetes/kube-recipe.ts'
import { demandCommand } from '../kubernetes/run-command.ts'
import { type Availability, availableWhenBuilt } from '../availability.ts'
import { cacheDirectory } from '../routers/recipe.ts'

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly annotations: Readonly<Record<string, string>>
}

export interface Case {
  /** In the notation of Prometheus' own tests, one value a minute: `{'up{job="a"}': '1x5 0x10'}`. */
  readonly series: Readonly<Record<string, string>>
  /** When it is asked what fires. */
  readonly minutes: number
}

export interface ParsedExpression {
  /** Of the parser; else there is none. */
  readonly error?: string
  readonly selectors: readonly {
    readonly metric: string
    readonly matchers: readonly {
      readonly label: string
      readonly type: string
      readonly value: string
    }[]
  }[]
  /** Those of `by`, `on`, `group_left`, … */
  readonly labels: readonly string[]
}

export interface Firing {
  readonly alert: string
  readonly labels: Readonly<Record<string, string>>
  /** With their templates expanded. */
  readonly annotations: Readonly<Record<string, string>>
}

interface Question {
  readonly expressions?: readonly string[]
  readonly alerts?: readonly Alert[]
  readonly cases?: readonly Case[]
}

export interface QueryResponse {
  readonly expressions: readonly ParsedExpression[]
  /** For each case. */
  readonly cases: readonly (readonly Firing[])[]
}

export const promqlAvailability = (): Availability => {
  return availableWhenBuilt("Prometheus' parser", isBuilt(), () => {
    const lacking = goLacking()
    if (lacking === undefined) return { available: true }
    return { available: false, why: `Prometheus' parser is built with ${lacking}` }
  })
}

/** Cold it takes minutes, done once it takes none. */
export const buildPromql = async (): Promise<void> => {
  await buildOnce({ directory: builtDirectory(), isBuilt, make: build })
}

export const askPromql = async (question: Question): Promise<QueryResponse> => {
  await buildPromql()
  const input = JSON.stringify({ expressions: [], alerts: [], cases: [], ...question })
  const response = await demandCommand({ program: builtProgram(), args: [], input })
  return JSON.parse(response) as QueryResponse
}

const MODULE = join(import.meta.dirname, 'promql')

const builtDirectory = (): string => {
  const hash = createHash('sha256').update(`${platform}-${arch}`)
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(MODULE, file)))
  return join(cacheDirectory('test-prometheus'), `promql-${hash.digest('hex').slice(0, 12)}`)
}

const builtProgram = (): string => join(builtDirectory(), 'promql')

const isBuilt = (): boolean => existsSync(builtProgram())

const build = (work: string): Promise<void> => {
  const what = `Prometheus' parser ${goModule(MODULE).versionOf('github.com/prometheus/prometheus')}`
  const [packages, output, values] = [['.'], 'promql', []]
  return compile({ what, takes: '2 minutes', module: MODULE, packages, output, values }, work)
}
