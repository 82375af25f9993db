// Reads how much of the operator and the gateways a namespace may use: from the settings of the operator and the
// annotations of the Namespace. Who of a namespace has which part of that is decided elsewhere (quota-registry.ts).

import type { ResourceCache } from '../../resource/resource-source.ts'
import { ANNOTATIONS, resourceKey } from '../../resource/resource.ts'
import { ComputedCache } from '../computed-cache.ts'
import { type Amounts, NOTHING, type QuotaName } from './quota-amounts.ts'

export interface Quota {
  readonly limits: Amounts
  /** An annotation that can't be read: it allows nothing. */
  readonly misspelt?: string
}

export class NamespaceQuotas {
  readonly #usual: Quota
  readonly #annotated = new ComputedCache<Quota>()

  /** @param limits for what the annotation of a Namespace does not say */
  constructor(limits: Amounts) {
    this.#usual = { limits }
  }

  /** Forgets namespaces that are not in `live`. */
  retain(live: { has(namespace: string): boolean }): void {
    this.#annotated.retain(live)
  }

  /** The same object until something changes. */
  of(namespace: string, cache: ResourceCache): Quota {
    const annotations = cache.resources.get(resourceKey('Namespace', '', namespace))?.metadata
      .annotations
    if (annotations === undefined || !Object.hasOwn(annotations, ANNOTATIONS.quota)) {
      return this.#usual
    }
    const text = annotations[ANNOTATIONS.quota] ?? ''
    return this.#annotated.get(namespace, [text], () => readQuota(text, this.#usual.limits))
  }
}

/** @example readQuota('documents=50, mb=8', usual).limits.bytes // 8388608 */
const readQuota = (text: string, usual: Amounts): Quota => {
  let limits = usual
  for (const entry of text.split(',')) {
    const [, name = '', digits = ''] = /^\s*(\w+)\s*=\s*(\d{1,9})\s*$/.exec(entry) ?? []
    const unit = UNITS.get(name)
    if (unit === undefined) return { limits: NOTHING, misspelt: entry.trim() }
    limits = { ...limits, [unit.name]: Number(digits) * unit.size }
  }
  return { limits }
}

export const MB = 2 ** 20

const UNITS: ReadonlyMap<string, { readonly name: QuotaName; readonly size: number }> = new Map([
  ['documents', { name: 'documents', size: 1 }],
  ['routes', { name: 'routes', size: 1 }],
  ['mb', { name: 'bytes', size: MB }],
  ['realms', { name: 'realms', size: 1 }],
])
