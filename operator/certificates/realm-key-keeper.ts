// A Kubernetes API in; the secrets from which the keys of Realms are made, as they stand in a Secret of the operator,
// out. The leader makes them where there are none and changes none; everybody else reads. Never logs what it reads.

import { messageOf } from '../../base/thrown.ts'
import { createKeyRing, type KeyRing, parseKeyRing } from '../../language/realm/key-ring.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import { isApiError, type KubernetesApi } from '../kubernetes/client/api.ts'
import { ownSecretCommand } from '../resource/roles-for.ts'
import { REALM_KEYS_SECRET } from '../resource/roles.ts'
import { TaskLoop } from '../../base/task-loop.ts'
import type { SecretTexts } from './authority.ts'
import { CertificateError } from './certificate-error.ts'
import { type Chance, SYSTEM_CHANCE } from './issue-certificate.ts'
import { updateSecret } from './secret-store.ts'

export interface RealmKeyKeeperOptions {
  readonly api: KubernetesApi
  /** The operator's own. */
  readonly namespace: string
  /** The operator's own: named where it is not allowed something. */
  readonly serviceAccount: string
  /** How often the Secret is looked at; 1 minute, 5 seconds while there are no keys. */
  readonly checkMs?: number
  readonly missingMs?: number
  readonly clock: Clock
  readonly chance?: Pick<Chance, 'bytes'>
  readonly log: Log
}

/** In the Secret; written as the file of a gateway's state directory is. */
const ENTRY = 'keys.json'
const ENTRIES: ReadonlySet<string> = new Set([ENTRY])
/** As many signing keys as a realm may have. */
const MAX_KEYS = 16

export class RealmKeyKeeper {
  readonly #options: RealmKeyKeeperOptions
  #onChange: () => void = () => undefined
  #text: string | undefined
  #ring: KeyRing | undefined
  #isKnown = false
  #trouble: string | undefined
  #revision = 0
  #isLeading = false
  /** One thing at a time: no two writes of ours race. */
  readonly #loop: TaskLoop

  constructor(options: RealmKeyKeeperOptions) {
    this.#options = options
    this.#loop = new TaskLoop(options.clock, () => this.#round())
  }

  /** Newest first; the same object while nothing has changed. Undefined: there are none, or none that may be read. */
  get ring(): KeyRing | undefined {
    return this.#ring
  }

  /**
   * Whether there are keys has been answered. Until then no Realm may be judged: keys that were there all along would
   * be taken from it, and whoever is logged in would be out. While Secrets can't be read at all, no gateway can be
   * reached either, as certificates are in Secrets too.
   */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** What is wrong and what to do. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Grows with each change of what the others give. */
  get revision(): number {
    return this.#revision
  }

  /** Reads what is there; from now on again and again. `onChange` is called when the revision has grown. */
  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#loop.trigger()
  }

  /** From now on keys are made where there are none. */
  lead(): void {
    this.#isLeading = true
    this.#loop.trigger()
  }

  follow(): void {
    this.#isLeading = false
  }

  /** What is under way is nobody's to wait for. */
  stop(): void {
    this.#isLeading = false
    void this.#loop.stop()
  }

  async #round(): Promise<number | 'failed' | undefined> {
    const { checkMs = 60_000, missingMs = 5_000 } = this.#options
    const before = [this.#ring, this.#isKnown, this.#trouble]
    const attempt: Attempt = { write: undefined }
    try {
      this.#take(await this.#bring(attempt))
    } catch (error) {
      this.#fail(error, attempt)
    }
    // What was read as the program ended looks like a fault.
    if (this.#loop.hasStopped()) return undefined
    this.#tell(before)
    if (!this.#isKnown) return 'failed'
    return this.#ring === undefined || this.#trouble !== undefined ? missingMs : checkMs
  }

  /** @returns what stands there in the end; undefined: nothing, and it is for another to make it */
  async #bring(attempt: Attempt): Promise<string | undefined> {
    const { api, namespace, chance = SYSTEM_CHANCE, log } = this.#options
    const decide = (known: SecretTexts | undefined): Promise<SecretTexts | undefined> => {
      attempt.write = undefined
      if (known?.[ENTRY] !== undefined || !this.#isLeading) return Promise.resolve(undefined)
      attempt.write = known === undefined ? 'create' : 'update'
      const ring = createKeyRing((count) => chance.bytes(count))
      return Promise.resolve({ [ENTRY]: `${JSON.stringify(ring)}\n` })
    }
    const name = { namespace, name: REALM_KEYS_SECRET }
    const update = { name, owner: namespace, type: 'Opaque', keys: ENTRIES, decide } as const
    const texts = await updateSecret(api, update)
    if (attempt.write !== undefined) {
      log.info('keys were made for realms that give none', { namespace, object: name.name })
    }
    return texts[ENTRY]
  }

  /** Keys that were known stay while there are none: the leader makes others, or somebody puts them back. */
  #take(text: string | undefined): void {
    this.#isKnown = true
    this.#trouble = undefined
    if (text === undefined || text === this.#text) return
    try {
      this.#ring = readRing(text)
      this.#text = text
    } catch (error) {
      // Never made anew in its place: that would end what was signed with it.
      const words = messageOf(error)
      this.#trouble =
        `${ENTRY} of Secret ${this.#place()} is broken: ${words}. Put back what stood there, ` +
        'or delete the Secret: then tickets and tokens of realms without signingKeys end'
    }
  }

  #fail(error: unknown, { write }: Attempt): void {
    const { namespace, serviceAccount } = this.#options
    const isForbidden = isApiError(error, 'forbidden')
    const isForeign = error instanceof CertificateError && error.code === 'foreign_secret'
    const words = messageOf(error)
    // An answer, if not the one that was hoped for: documents are served all the same.
    this.#isKnown ||= isForbidden || isForeign
    if (!isForbidden) {
      this.#trouble = `keys of realms without signingKeys, Secret ${this.#place()}: ${words}`
      return
    }
    const account = { operatorNamespace: namespace, serviceAccount }
    const command = ownSecretCommand(account, REALM_KEYS_SECRET, { creating: write === 'create' })
    const signing =
      this.#ring === undefined
        ? 'each gateway signs with a key of its own for realms without signingKeys'
        : 'keys that were read before stay in use'
    this.#trouble =
      `the operator may not ${write ?? 'get'} Secret ${this.#place()}, and so ${signing}; ` +
      `allow it with: ${command}`
  }

  #tell(before: readonly unknown[]): void {
    const now = [this.#ring, this.#isKnown, this.#trouble]
    if (now.every((each, index) => each === before[index])) return
    const trouble = this.#trouble
    if (trouble !== undefined && trouble !== before[2]) {
      this.#options.log.warn('the keys of realms could not be looked after', { trouble })
    }
    this.#revision += 1
    this.#onChange()
  }

  #place(): string {
    return `${this.#options.namespace}/${REALM_KEYS_SECRET}`
  }
}

interface Attempt {
  /** What was asked for last, but for reading. */
  write: 'create' | 'update' | undefined
}

/** @throws Error that tells nothing of what stands there */
const readRing = (text: string): KeyRing => {
  const ring = parseKeyRing(text)
  if (ring.keys.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys`)
  return ring
}
