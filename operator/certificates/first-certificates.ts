// Creates the first certificate of a namespace that is about to have a gateway, or reports what prevents it. Works
// without leading, and never waits for the rounds of the leader, because a pod waits for it. Creates only.

import { BoundedMap } from '../../base/bounded-map.ts'
import type { ObjectName } from '../kubernetes/client/api.ts'
import { readAuthority } from './authority.ts'
import { SECRET_NAMES, serverNameOf } from './certificate-names.ts'
import { createLeafIfAbsent, type IssuerDeps } from './certificate-secrets.ts'
import { certificateFailure } from './namespace-certificates.ts'
import { readSecret } from './secret-store.ts'

interface Creation {
  readonly atMs: number
  /** Undefined while it is under way, or when it succeeded. */
  failure: string | undefined
  readonly done: Promise<void>
}

/**
 * A result is reused for this long, so that neither a read nor a failure is repeated with each pod. No longer: a
 * namespace that was deleted and created again has no certificate, and its gateways would wait for the leader's next
 * round.
 */
const KNOWN_MS = 10_000
const MAX_CREATIONS = 1000
/** At a time: each is a key and three requests to the API server, and any pod may ask for it. */
const MAX_UNDER_WAY = 32

const BUSY = 'certificates of many namespaces are being created; this one follows'

export class FirstCertificates {
  readonly #deps: IssuerDeps
  readonly #authority: ObjectName
  readonly #firstCertificates = new BoundedMap<string, Creation>(MAX_CREATIONS)
  #underWay = 0

  constructor(deps: IssuerDeps, authority: ObjectName) {
    this.#deps = deps
    this.#authority = authority
  }

  /** Never rejects. @returns what prevents it and what to do; undefined: nothing */
  async ensure(namespace: string): Promise<string | undefined> {
    const known = this.#known(namespace)
    if (known === undefined && this.#underWay >= MAX_UNDER_WAY) return BUSY
    const creation = known ?? this.#begin(namespace)
    await creation.done
    return creation.failure
  }

  #known(namespace: string): Creation | undefined {
    const creation = this.#firstCertificates.get(namespace)
    if (creation === undefined) return undefined
    return this.#deps.clock.now() - creation.atMs < KNOWN_MS ? creation : undefined
  }

  #begin(namespace: string): Creation {
    this.#underWay += 1
    const creation: Creation = {
      atMs: this.#deps.clock.now(),
      failure: undefined,
      done: this.#make(namespace)
        .catch((error: unknown) => {
          creation.failure = certificateFailure(this.#deps, namespace, error)
        })
        .finally(() => {
          this.#underWay -= 1
        }),
    }
    this.#firstCertificates.set(namespace, creation)
    return creation
  }

  async #make(namespace: string): Promise<void> {
    const { api, clock } = this.#deps
    const { texts } = await readSecret(api, this.#authority)
    const authority = readAuthority(texts ?? {}, clock.now())
    const { current } = authority
    if (current === undefined) throw new Error('the operator has no CA yet')
    const name = { namespace, name: SECRET_NAMES.server }
    const purpose = { usage: 'server', names: [serverNameOf(namespace)] } as const
    await createLeafIfAbsent(this.#deps, name, purpose, { ...authority, current })
  }
}
