// Defines what a namespace uses of the operator and the gateways, as amounts that quotas bound, and counts the amounts
// of one document: before it is compiled, so that what exceeds a quota costs no more than counting it. Pure.

import type { ValueMap } from '../../../language/expression/value.ts'
import { countBytes, MAX_BYTES } from '../../../language/measure.ts'
import { countRoutes, MAX_ROUTES } from '../../../language/routes/route-limit.ts'

export const QUOTA_NAMES = ['documents', 'routes', 'bytes', 'realms'] as const

export type QuotaName = (typeof QUOTA_NAMES)[number]

export type Amounts = Readonly<Record<QuotaName, number>>

export const NOTHING: Amounts = { documents: 0, routes: 0, bytes: 0, realms: 0 }

export const ONE_REALM: Amounts = { ...NOTHING, realms: 1 }

/** What counts for a document that serves while its text is not known. */
export const LARGEST_DOCUMENT: Amounts = {
  documents: 1,
  realms: 0,
  routes: MAX_ROUTES,
  bytes: MAX_BYTES,
}

/**
 * Bytes are those of the document as JSON text, and of its variables: gateways hold both. Undefined for what breaks a
 * bound of the language: it is never put.
 * @param variables from Secrets
 * @example amountsOf({ id: 'a' }) // { documents: 1, routes: 0, bytes: 10, realms: 0 }
 */
export const amountsOf = (document: ValueMap, variables: ValueMap = {}): Amounts | undefined => {
  const known = texts.get(document)
  const text = known ?? countText(document)
  if (known === undefined) texts.set(document, text)
  if (text === 'unbounded') return undefined
  return { ...text, bytes: text.bytes + countVariables(variables) }
}

/** In each respect the larger of two. */
export const largerOf = (left: Amounts, right: Amounts): Amounts => ({
  documents: Math.max(left.documents, right.documents),
  routes: Math.max(left.routes, right.routes),
  bytes: Math.max(left.bytes, right.bytes),
  realms: Math.max(left.realms, right.realms),
})

export const sumOf = (left: Amounts, right: Amounts): Amounts => ({
  documents: left.documents + right.documents,
  routes: left.routes + right.routes,
  bytes: left.bytes + right.bytes,
  realms: left.realms + right.realms,
})

export const differenceOf = (left: Amounts, right: Amounts): Amounts => ({
  documents: left.documents - right.documents,
  routes: left.routes - right.routes,
  bytes: left.bytes - right.bytes,
  realms: left.realms - right.realms,
})

/** Documents are never changed; the one that is wanted is nearly always the one that then serves. */
const texts = new WeakMap<ValueMap, Amounts | 'unbounded'>()

const countText = (document: ValueMap): Amounts | 'unbounded' => {
  const bytes = countBytes(document)
  if (bytes === undefined) return 'unbounded'
  return { documents: 1, routes: countRoutes(document), bytes, realms: 0 }
}

const countVariables = (variables: ValueMap): number => {
  let bytes = 0
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string') bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  return bytes
}
