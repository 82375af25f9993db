// What the API says of every document, and since when: the watch of a bystander, beside the operator's own.

import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../../operator/resource/own-types.ts'
import { createReflector } from '../../../operator/kubernetes/watch/reflector.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { NAMESPACE } from './documents.ts'

/** A generation of which the status says that it is programmed. */
export interface Programmed {
  readonly generation: number
  readonly digest: string
  /** When we heard of it first: Unix time, ms. */
  readonly atMs: number
}

export interface Statuses extends AsyncDisposable {
  /** Of the newest generation that is programmed. */
  readonly of: (name: string) => Programmed | undefined
  /** @throws after `withinMs` */
  readonly until: (name: string, generation: number, withinMs: number) => Promise<Programmed>
}

const PAGE = 200

/** A reflector: an API server ends the watch of a slow client. */
export const watchStatuses = async (api: KubernetesApi, now: () => number): Promise<Statuses> => {
  const known = new Map<string, Programmed>()
  const waiting = new Map<string, (programmed: Programmed) => void>()
  const reflector = createReflector<true>({
    api,
    clock: SYSTEM_CLOCK,
    log: createSilentLog(),
    type: OWN_TYPES.apiSpecifications,
    namespace: NAMESPACE,
    pageSize: PAGE,
    read: (object) => {
      const read = readProgrammed(object)
      if (read === undefined || known.get(read.name)?.generation === read.generation) return true
      const programmed = { generation: read.generation, digest: read.digest, atMs: now() }
      known.set(read.name, programmed)
      waiting.get(read.name)?.(programmed)
      return true
    },
    onChange: () => undefined,
  })
  reflector.start()
  await eventually(() => {
    if (!reflector.hasSynced) throw new Error('the documents were not listed')
  })
  return {
    of: (name) => known.get(name),
    until: (name, generation, withinMs) => {
      const found = known.get(name)
      if (found !== undefined && found.generation >= generation) return Promise.resolve(found)
      return new Promise<Programmed>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`${name}: generation ${generation} is not programmed in ${withinMs} ms`))
        }, withinMs)
        waiting.set(name, (programmed) => {
          if (programmed.generation < generation) return
          clearTimeout(timer)
          waiting.delete(name)
          resolve(programmed)
        })
      })
    },
    [Symbol.asyncDispose]: () => reflector.stop(),
  }
}

/** Undefined: the status does not say it of the generation that stands there. */
const readProgrammed = (
  object: ValueMap,
): { readonly name: string; readonly generation: number; readonly digest: string } | undefined => {
  const { metadata, status } = object
  if (!isMap(metadata ?? null) || !isMap(status ?? null)) return undefined
  const { name, generation } = metadata as ValueMap
  const { programmedGeneration, programmedDigest, conditions } = status as ValueMap
  if (programmedGeneration !== generation || !isProgrammed(conditions, generation)) return undefined
  if (typeof name !== 'string' || typeof generation !== 'number') return undefined
  return { name, generation, digest: typeof programmedDigest === 'string' ? programmedDigest : '' }
}

const isProgrammed = (conditions: Value | undefined, generation: Value | undefined): boolean =>
  Array.isArray(conditions) &&
  conditions.some(
    (condition: ValueMap) =>
      condition['type'] === 'Programmed' &&
      condition['status'] === 'True' &&
      condition['observedGeneration'] === generation,
  )
