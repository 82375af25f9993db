// Reads from the rendering of the chart with its defaults, which is stored, what the operator's container gets: its
// environment and its limit of memory.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

export interface ChartOperator {
  readonly env: Readonly<Record<string, string>>
  /** MB (2^20). */
  readonly memoryLimit: number
}

const RENDERED = join(import.meta.dirname, '../golden/helm/defaults/out.yaml')

export const chartOperator = (): ChartOperator => {
  const objects = parseAllDocuments(readFileSync(RENDERED, 'utf8')).map(
    (document) => document.toJS() as unknown as Partial<Deployment> | null,
  )
  const operator = objects
    .filter((object) => object?.kind === 'Deployment')
    .flatMap((object) => object?.spec?.template.spec.containers ?? [])
    .find(({ name }) => name === 'operator')
  const limit = /^(\d+)Mi$/.exec(operator?.resources.limits.memory ?? '')?.[1]
  if (operator === undefined || limit === undefined)
    throw new Error(`${RENDERED}: there is no operator with a limit of memory in Mi`)
  const env: Record<string, string> = {}
  for (const { name, value } of operator.env) if (value !== undefined) env[name] = value
  return { env, memoryLimit: Number(limit) }
}

/**
 * V8 takes half of the memory of a container for the old generation of its heap, 256 MB at least (measured in containers
 * of 256 to 1,024 MiB).
 */
export const heapOfContainer = (memoryLimit: number): number => Math.max(256, memoryLimit / 2)

interface Deployment {
  readonly kind: string
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly Container[] } }
  }
}

interface Container {
  readonly name: string
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly resources: { readonly limits: { readonly memory: string } }
}
