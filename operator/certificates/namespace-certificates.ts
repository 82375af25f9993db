// Maintains a server certificate in each namespace of data planes, and reports what prevents it. One namespace that
// fails does not delay the others.

import { messageOf } from '../../base/thrown.ts'
import { isApiError } from '../kubernetes/client/api.ts'
import { CERTIFICATE_WRITER } from '../resource/roles.ts'
import { grantCommand } from '../resource/roles-for.ts'
import { type Authority, bundleText } from './authority.ts'
import { SECRET_NAMES, serverNameOf } from './certificate-names.ts'
import { maintainLeaf, type StoredLeaf, type IssuerDeps } from './certificate-secrets.ts'
import { renewAtMs } from './policy.ts'
import { isSignedBy } from './read-certificate.ts'

interface Looked {
  readonly atMs: number
  /** Undefined: it failed, or the namespace is being deleted. */
  readonly leaf: StoredLeaf | undefined
  readonly failure: string | undefined
}

/** A namespace that failed, or that is new, is not read more often. */
const RETRY_MS = 10_000

export class NamespaceCertificates {
  readonly #deps: IssuerDeps
  readonly #everyMs: (namespace: string) => number
  readonly #looked = new Map<string, Looked>()

  /** @param everyMs how often it is read */
  constructor(deps: IssuerDeps, everyMs: (namespace: string) => number) {
    this.#deps = deps
    this.#everyMs = everyMs
  }

  get failures(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#looked].flatMap(([namespace, { failure }]) =>
        failure === undefined ? [] : [[namespace, failure]],
      ),
    )
  }

  /** Unix time, ms, when the first of them expires; undefined: none is known. */
  get endsMs(): number | undefined {
    const ends = [...this.#looked.values()].flatMap(({ leaf }) => leaf?.facts.notAfterMs ?? [])
    return ends.length === 0 ? undefined : Math.min(...ends)
  }

  /** @returns whether all of them have the bundle, and a certificate of the current CA */
  async maintainAll(
    namespaces: readonly string[],
    authority: Authority,
  ): Promise<{ readonly bundle: boolean; readonly leaves: boolean }> {
    const live = new Set(namespaces)
    for (const known of this.#looked.keys()) if (!live.has(known)) this.#looked.delete(known)
    for (const namespace of live) await this.#keep(namespace, authority, this.#everyMs(namespace))
    const all = [...this.#looked.values()].filter(({ leaf, failure }) => leaf ?? failure)
    const bundle = bundleText(authority.bundle)
    return {
      bundle: all.every(({ leaf }) => leaf?.bundle === bundle),
      leaves: all.every(({ leaf }) => leaf && isSignedBy(leaf.facts, authority.current.facts)),
    }
  }

  /** For a namespace that has gateways now. It may be another namespace of that name, without a certificate. */
  async maintainNew(namespace: string, authority: Authority): Promise<void> {
    await this.#keep(namespace, authority, RETRY_MS)
  }

  /** Sends nothing where that was done well less than `everyMs` ago. */
  async #keep(namespace: string, authority: Authority, everyMs: number): Promise<void> {
    const { clock, mayWrite } = this.#deps
    if (!mayWrite() || !this.#isDue(namespace, authority, everyMs)) return
    const atMs = clock.now()
    try {
      const name = { namespace, name: SECRET_NAMES.server }
      const purpose = { usage: 'server', names: [serverNameOf(namespace)] } as const
      const leaf = await maintainLeaf(this.#deps, name, purpose, authority)
      this.#looked.set(namespace, { atMs, leaf, failure: undefined })
    } catch (error) {
      if (mayWrite()) this.#fail(namespace, error, atMs)
    }
  }

  #isDue(namespace: string, authority: Authority, everyMs: number): boolean {
    const looked = this.#looked.get(namespace)
    if (looked === undefined) return true
    const { policy, clock } = this.#deps
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
    const failure = certificateFailure(this.#deps, namespace, error)
    this.#looked.set(namespace, { atMs, leaf: undefined, failure })
    if (failure === undefined || before?.failure === failure) return
    this.#deps.log.warn('the data planes of a namespace have no certificate', {
      namespace,
      error,
      failure,
    })
  }
}

/** Undefined: the namespace is being deleted, so it needs none. */
export const certificateFailure = (
  { owner: operatorNamespace, serviceAccount }: IssuerDeps,
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

/** A namespace that does not exist (any more) needs no certificate. */
const isGoing = (error: unknown): boolean =>
  isApiError(error, 'not_found') ||
  (isApiError(error, 'forbidden') && error.message.includes('being terminated'))
