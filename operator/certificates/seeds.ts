// Namespaces that are about to have a gateway in; their first certificate, or what stands in its way, out. Not only
// of the leader, and never in the queue behind its rounds: a pod waits for it. Creates only.

import { BoundedMap } from '../../base/bounded-map.ts'
import type { ObjectName } from '../kubernetes/client/api.ts'
import { readAuthority } from './authority.ts'
import { SECRET_NAMES, serverNameOf } from './certificate-names.ts'
import { seedLeaf, type Workshop } from './kept-secrets.ts'
import { certificateTrouble } from './namespace-certificates.ts'
import { readSecret } from './secret-store.ts'

interface Seed {
  readonly atMs: number
  /** Undefined while it is under way, or where all is well. */
  trouble: string | undefined
  readonly done: Promise<void>
}

/**
 * Neither a look nor a failure is repeated with each pod. No longer: a namespace that was deleted and made again has
 * no certificate any more, and its gateways would wait for the leader's next turn.
 */
const KNOWN_MS = 10_000
const MAX_SEEDS = 1000
/** At a time: each is a key and three questions to the API server, whoever asks for it. */
const MAX_UNDER_WAY = 32

const BUSY = 'certificates of many namespaces are being made; it comes as soon as it is there'

export class Seeds {
  readonly #workshop: Workshop
  readonly #authority: ObjectName
  readonly #seeds = new BoundedMap<string, Seed>(MAX_SEEDS)
  #underWay = 0

  constructor(workshop: Workshop, authority: ObjectName) {
    this.#workshop = workshop
    this.#authority = authority
  }

  /** Never rejects. @returns what stands in the way and what to do; undefined: nothing */
  async sow(namespace: string): Promise<string | undefined> {
    const known = this.#known(namespace)
    if (known === undefined && this.#underWay >= MAX_UNDER_WAY) return BUSY
    const seed = known ?? this.#begin(namespace)
    await seed.done
    return seed.trouble
  }

  #known(namespace: string): Seed | undefined {
    const seed = this.#seeds.get(namespace)
    if (seed === undefined) return undefined
    return this.#workshop.clock.now() - seed.atMs < KNOWN_MS ? seed : undefined
  }

  #begin(namespace: string): Seed {
    this.#underWay += 1
    const seed: Seed = {
      atMs: this.#workshop.clock.now(),
      trouble: undefined,
      done: this.#make(namespace)
        .catch((error: unknown) => {
          seed.trouble = certificateTrouble(this.#workshop, namespace, error)
        })
        .finally(() => {
          this.#underWay -= 1
        }),
    }
    this.#seeds.set(namespace, seed)
    return seed
  }

  async #make(namespace: string): Promise<void> {
    const { api, clock } = this.#workshop
    const { texts } = await readSecret(api, this.#authority)
    const authority = readAuthority(texts ?? {}, clock.now())
    const { current } = authority
    if (current === undefined) throw new Error('the operator has no CA yet')
    const name = { namespace, name: SECRET_NAMES.server }
    const purpose = { usage: 'server', names: [serverNameOf(namespace)] } as const
    await seedLeaf(this.#workshop, name, purpose, { ...authority, current })
  }
}
