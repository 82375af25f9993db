// Defines what `svc diff` compares: hosts, routes, versions, realms and Secrets, each with all that people may notice of it.

import type { ValueMap } from '../../language/expression/value.ts'

export interface Entry {
  readonly kind: 'host' | 'route' | 'version' | 'realm' | 'secret'
  /** What it is joined by with that of the other side. */
  readonly key: string
  /** For people: `GET api.acme.com/v1/orders`. */
  readonly name: string
  /** `users.yaml:12:5`; empty: it is in no file. */
  readonly at: string
  /** What is said of it where it comes or goes: `action static, security none`. */
  readonly summary: string
  /** With nothing hidden: it is compared, and never shown. */
  readonly full: ValueMap
  /** The same members, as far as people may see them. */
  readonly shown: ValueMap
}

/**
 * loosened: more callers get in than before, or it can't be ruled out. breaking: someone who was served will not be, or
 * otherwise. may break: that depends on who calls. changed: neither.
 */
export type Effect = 'loosened' | 'breaking' | 'may break' | 'changed'
