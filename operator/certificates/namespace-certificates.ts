// Namespaces of data planes in; a server certificate in each of them, and what stands in the way of it, out.
// One namespace that fails holds back no other.

import { messageOf } from '../../base/thrown.ts'
import { isApiError } from '../kubernetes/client/api.ts'
import { CERTIFICATE_WRITER } from '../resource/roles.ts'
import { grantCommand } from '../resource/roles-for.ts'
import { type Authority, bundleText } from './authority.ts'
import { SECRET_NAMES, serverNameOf } from './certificate-names.ts'
import { keepLeaf, type KeptLeaf, type Workshop } from './kept-secrets.ts'
import { renewAtMs } from './policy.ts'
import { isSignedBy } from './read-certificate.ts'

interface Looked {
  readonly atMs: number
  /** Undefined: it failed, or the namespace is going. */
  readonly leaf: KeptLeaf | undefined
  readonly trouble: string | undefined
}

/** A namespace that failed, or one that is new, is not asked about more often. */
const RETRY_MS = 10_000

export class NamespaceCertificates {
  readonly #workshop: Workshop
  readonly #everyMs: (namespace: string) => number
  readonly #looked = new Map<string, Looked>()

  /** @param everyMs how often it is looked at */
  constructor(workshop: Workshop, everyMs: (namespace: string) => number) {
    this.#workshop = workshop
    this.#everyMs = everyMs
  }

  get troubles(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#looked].flatMap(([namespace, { trouble }]) =>
        trouble === undefined ? [] : [[namespace, trouble]],
      ),
    )
  }

  /** Unix time, ms, when the first of them ends; undefined: none is known. */
  get endsMs(): number | undefined {
    const ends = [...this.#looked.values()].flatMap(({ leaf }) => leaf?.facts.notAfterMs ?? [])
    return ends.length === 0 ? undefined : Math.min(...ends)
  }

  /** @returns whether all of them have the bundle, and a certificate of the current CA */
  async keepAll(
    namespaces: readonly string[],
    authority: Authority,
  ): Promise<{ readonly bundle: boolean; readonly leaves: boolean }> {
    const live = new Set(namespaces)
    for (const known of this.#looked.keys()) if (!live.has(known)) this.#looked.delete(known)
    for (const namespace of live) await this.#keep(namespace, authority, this.#everyMs(namespace))
    const all = [...this.#looked.values()].filter(({ leaf, trouble }) => leaf ?? trouble)
    const bundle = bundleText(authority.bundle)
    return {
      bundle: all.every(({ leaf }) => leaf?.bundle === bundle),
      leaves: all.every(({ leaf }) => leaf && isSignedBy(leaf.facts, authority.current.facts)),
    }
  }

  /** Gateways have come to it. It may be another namespace of that name, with nothing in it any more. */
  async keepNew(namespace: string, authority: Authority): Promise<void> {
    await this.#keep(namespace, authority, RETRY_MS)
  }

  /** Where it was well less than `everyMs` ago, nothing is asked. */
  async #keep(namespace: string, authority: Authority, everyMs: number): Promise<void> {
    const { clock, mayWrite } = this.#workshop
    if (!mayWrite() || !this.#isDue(namespace, authority, everyMs)) return
    const atMs = clock.now()
    try {
      const name = { namespace, name: SECRET_NAMES.server }
      const purpose = { usage: 'server', names: [serverNameOf(namespace)] } as const
      const leaf = await keepLeaf(this.#workshop, name, purpose, authority)
      this.#looked.set(namespace, { atMs, leaf, trouble: undefined })
    } catch (error) {
      if (mayWrite()) this.#fail(namespace, error, atMs)
    }
  }

  #isDue(namespace: string, authority: Authority, everyMs: number): boolean {
    const looked = this.#looked.get(namespace)
    if (looked === undefined) return true
    const { policy, clock } = this.#workshop
    const { atMs, leaf } = looked
    const nowMs = clock.now()
    if (leaf === undefined) return nowMs - atMs >= RETRY_MS
    return (
      nowMs - atMs >= everyMs ||
      nowMs >= renewAtMs(leaf.facts, policy) ||
      leaf.bundle !== bundleText(authority.bundle) ||
      !isSignedBy(leaf.facts, authority.current.facts)
    )
  }

  #fail(namespace: string, error: unknown, atMs: number): void {
    const before = this.#looked.get(namespace)
    const trouble = certificateTrouble(this.#workshop, namespace, error)
    this.#looked.set(namespace, { atMs, leaf: undefined, trouble })
    if (trouble === undefined || before?.trouble === trouble) return
    this.#workshop.log.warn('the data planes of a namespace have no certificate', {
      namespace,
      error,
      trouble,
    })
  }
}

/** Undefined: the namespace is going, so it needs none. */
export const certificateTrouble = (
  { owner: operatorNamespace, serviceAccount }: Workshop,
  namespace: string,
  error: unknown,
): string | undefined => {
  if (isGoing(error)) return undefined
  if (isApiError(error, 'forbidden')) {
    const grant = grantCommand({ operatorNamespace, serviceAccount }, CERTIFICATE_WRITER, namespace)
    return `the operator may not write Secret ${namespace}/${SECRET_NAMES.server}; allow it with: ${grant}`
  }
  return messageOf(error)
}

/** A namespace that is not there (any more) needs no certificate. */
const isGoing = (error: unknown): boolean =>
  isApiError(error, 'not_found') ||
  (isApiError(error, 'forbidden') && error.message.includes('being terminated'))
