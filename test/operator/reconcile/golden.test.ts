// test/golden/operator/<case>/in.yaml: resources and data planes, step by step; out.yaml: what they come to.
// UPDATE_GOLDEN=1 writes the out.yaml files anew; read the difference before committing it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { describe, expect, it } from '@jest/globals'
import { parse, stringify } from 'yaml'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import type { DesiredSet } from '../../../operator/desired-set.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../operator/reconcile/status/status-registry.ts'
import { readResource } from '../../../operator/resource/read-resource.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import type { Problem } from '../../../language/problem.ts'

const IS_UPDATE = env['UPDATE_GOLDEN'] === '1'
const GOLDEN = join(import.meta.dirname, '../../golden/operator')

interface Step {
  readonly say: string
  /** Resources that are there from now on, by name instead of those of that name; null takes one out. */
  readonly apply?: readonly Applied[]
  readonly remove?: readonly string[]
  readonly forbidden?: Readonly<Record<string, string>>
  readonly holdDeletes?: string
  readonly dataPlanes?: Readonly<Record<string, Plane>>
  readonly seconds?: number
}

interface Applied {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly age?: number }
}

interface Plane {
  /** It holds what it should, but for what it refuses. */
  readonly phase?: DataPlaneReport['phase']
  readonly holds?: 'all' | 'nothing' | 'as-before'
  readonly ready?: boolean
  readonly refuses?: Readonly<Record<string, Problem>>
  readonly labels?: Readonly<Record<string, string>>
  readonly message?: string
  readonly sessions?: DataPlaneReport['realms'] extends ReadonlyMap<string, infer Held>
    ? Held extends { readonly sessions: infer Sessions }
      ? Sessions
      : never
    : never
}

const START = Date.parse('2026-01-01T00:00:00Z')

class Cluster {
  readonly #resources = new Map<string, Resource>()
  readonly #reconciler = new Reconciler({ className: 'svc' })
  readonly #book = new StatusRegistry()
  #nowMs = START
  #version = 0
  #held: DesiredSet | undefined

  take(step: Step): object {
    this.#nowMs += 1000 * (step.seconds ?? 60)
    this.#version += 1
    for (const value of step.apply ?? []) this.#apply(value)
    for (const key of step.remove ?? []) this.#resources.delete(key)
    const { desired, results } = this.#reconciler.reconcile({
      version: this.#version,
      resources: new Map(this.#resources),
      notes: [],
      ...(step.forbidden && { forbidden: new Map(Object.entries(step.forbidden)) }),
      ...(step.holdDeletes !== undefined && { holdDeletes: step.holdDeletes }),
    })
    const reports = Object.entries(step.dataPlanes ?? { gateway: {} }).map(([name, plane]) =>
      reportOf(name, plane, plane.holds === 'as-before' ? this.#held : desired),
    )
    if (
      Object.values(step.dataPlanes ?? { gateway: {} }).every(({ holds }) => holds !== 'as-before')
    ) {
      this.#held = desired
    }
    const statuses = this.#book.update(results, reports, this.#nowMs)
    return {
      say: step.say,
      desired: describeDesired(desired),
      status: Object.fromEntries(
        [...statuses].map(([key, status]) => [key, describeStatus(status)]),
      ),
    }
  }

  #apply(value: Applied): void {
    const { age = 0, ...metadata } = value.metadata
    const first = readResource({ ...value, metadata }, UNKNOWN)
    if (first.result !== 'resource') throw new Error(`no resource: ${JSON.stringify(first)}`)
    const key = keyOf(first.resource)
    const before = this.#resources.get(key)?.metadata
    const read = readResource(
      { ...value, metadata },
      {
        uid: `uid-of-${key}`,
        resourceVersion: String(this.#version),
        generation: (before?.generation ?? 0) + 1,
        createdAt: before?.createdAt ?? START - 1000 * age,
      },
    )
    if (read.result === 'resource') this.#resources.set(key, read.resource)
  }
}

const UNKNOWN = { uid: '', resourceVersion: '', generation: 1, createdAt: 0 }

const reportOf = (name: string, plane: Plane, held: DesiredSet | undefined): DataPlaneReport => {
  const { phase = 'synced', ready = true, message = '', refuses = {}, labels = {} } = plane
  const isHeld = (id: string): boolean => plane.holds !== 'nothing' && !Object.hasOwn(refuses, id)
  const documents = [...(held?.documents ?? [])]
  return {
    dataPlane: { name, url: `http://${name}`, labels },
    phase,
    ready,
    message,
    documents: new Map(
      documents
        .filter(([id]) => isHeld(id))
        .map(([id, { digest }]) => [id, { digest, warnings: [] }]),
    ),
    realms: new Map(
      [...(held?.realms ?? [])].map(([uri, { digest }]) => [
        uri,
        { digest, sessions: plane.sessions ?? [] },
      ]),
    ),
    realmsGiven: new Set(held?.realms.keys()),
    rejected: {
      documents: new Map(
        documents
          .filter(([id]) => Object.hasOwn(refuses, id))
          .map(([id, { digest }]) => [
            id,
            { digest, errors: [refuses[id] ?? { code: 'invalid_value', path: '', message: '' }] },
          ]),
      ),
      realms: new Map(),
    },
  }
}

const describeDesired = ({ documents, realms, kept, holdDeletes }: DesiredSet): object => ({
  documents: Object.fromEntries(
    [...documents].map(([id, { digest, realmUri, variables, selector }]) => [
      id,
      {
        digest: digest.slice(0, 12),
        realm: realmUri,
        ...(variables && { variables: Object.keys(variables) }),
        ...(selector && { selector }),
      },
    ]),
  ),
  realms: Object.fromEntries([...realms].map(([uri, { record }]) => [uri, record])),
  ...(kept.documents.size + kept.realms.size > 0 && {
    kept: [...kept.documents, ...kept.realms],
  }),
  ...(holdDeletes !== undefined && { holdDeletes }),
})

const describeStatus = ({
  result,
  conditions,
  errors,
  warnings,
  summary,
}: ResourceStatus): object => ({
  generation: result.resource.metadata.generation,
  ...(result.serving && { desired: result.serving.generation }),
  ...(summary && { serving: `${summary.serving} at ${summary.gateways}` }),
  conditions: conditions.map(
    ({ type, status, reason, message, lastTransitionTime }) =>
      `${type}=${status} ${reason} (${lastTransitionTime.slice(11, 19)}): ${message}`,
  ),
  ...(errors.length > 0 && {
    errors: errors.map(({ code, path, message }) => `${code} ${path}: ${message}`),
  }),
  ...(warnings.length > 0 && {
    warnings: warnings.map(({ code, path }) => `${code} ${path}`),
  }),
})

describe('golden: resources to desired set and conditions', () => {
  it.each(readdirSync(GOLDEN).sort())('%s', (name) => {
    const steps = parse(readFileSync(join(GOLDEN, name, 'in.yaml'), 'utf8'), {
      merge: true,
      maxAliasCount: 1000,
    }) as { readonly steps: readonly Step[] }
    const cluster = new Cluster()
    const out = stringify(
      steps.steps.map((step) => cluster.take(step)),
      { lineWidth: 0, aliasDuplicateObjects: false },
    )
    const file = join(GOLDEN, name, 'out.yaml')
    if (IS_UPDATE) writeFileSync(file, out)
    expect(out).toBe(readFileSync(file, 'utf8'))
  })
})
