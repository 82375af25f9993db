// Maintains the secrets from which the keys of Realms are derived, in a Secret of the operator. The leader creates them
// where there are none and never changes any; other replicas read. Never logs what it reads.

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
import { type RandomSource, SYSTEM_RANDOM } from './issue-certificate.ts'
import { updateSecret } from './secret-store.ts'

export interface RealmKeyManagerOptions {
  readonly api: KubernetesApi
  /** The operator's own namespace. */
  readonly namespace: string
  /** The operator's own: named in the command that grants a missing permission. */
  readonly serviceAccount: string
  /** How often the Secret is read; 1 minute, 5 seconds while there are no keys. */
  readonly checkMs?: number
  readonly missingMs?: number
  readonly clock: Clock
  readonly random?: Pick<RandomSource, 'bytes'>
  readonly log: Log
}

/** The key in the Secret; its value has the form of the file in a gateway's state directory. */
const ENTRY = 'keys.json'
const ENTRIES: ReadonlySet<string> = new Set([ENTRY])
/** As many signing keys as a realm may have. */
const MAX_KEYS = 16

export class RealmKeyManager {
  readonly #options: RealmKeyManagerOptions
  #onChange: () => void = () => undefined
  #text: string | undefined
  #ring: KeyRing | undefined
  #isKnown = false
  #failure: string | undefined
  #revision = 0
  #isLeading = false
  /** Runs one thing at a time, so that no two writes of ours race. */
  readonly #loop: TaskLoop

  constructor(options: RealmKeyManagerOptions) {
    this.#options = options
    this.#loop = new TaskLoop(options.clock, () => this.#round())
  }

  /** Newest first; the same object while nothing has changed. Undefined: there are none, or they may not be read. */
  get ring(): KeyRing | undefined {
    return this.#ring
  }

  /**
   * Whether it is known if there are keys. Until then no Realm may be validated: it would lose keys that were there all
   * along, and its users would be logged out. While Secrets can't be read at all, no gateway can be reached either, as
   * certificates are in Secrets too.
   */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** What is wrong and what to do. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Grows with each change of what the other properties give. */
  get revision(): number {
    return this.#revision
  }

  /** Reads what is there, now and repeatedly. `onChange` is called when the revision has grown. */
  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#loop.trigger()
  }

  /** From now on keys are created where there are none. */
  lead(): void {
    this.#isLeading = true
    this.#loop.trigger()
  }

  follow(): void {
    this.#isLeading = false
  }

  /** Does not wait for what is under way: nothing depends on it. */
  stop(): void {
    this.#isLeading = false
    void this.#loop.stop()
  }

  async #round(): Promise<number | 'failed' | undefined> {
    const { checkMs = 60_000, missingMs = 5_000 } = this.#options
    const before = [this.#ring, this.#isKnown, this.#failure]
    const attempt: WriteAttempt = { write: undefined }
    try {
      this.#take(await this.#bring(attempt))
    } catch (error) {
      this.#fail(error, attempt)
    }
    // A read that the end of the program has cancelled looks like an error.
    if (this.#loop.hasStopped()) return undefined
    this.#notify(before)
    if (!this.#isKnown) return 'failed'
    return this.#ring === undefined || this.#failure !== undefined ? missingMs : checkMs
  }

  /** @returns the content in the end; undefined: there is none, and another replica has to create it */
  async #bring(attempt: WriteAttempt): Promise<string | undefined> {
    const { api, namespace, random = SYSTEM_RANDOM, log } = this.#options
    const decide = (known: SecretTexts | undefined): Promise<SecretTexts | undefined> => {
      attempt.write = undefined
      if (known?.[ENTRY] !== undefined || !this.#isLeading) return Promise.resolve(undefined)
      attempt.write = known === undefined ? 'create' : 'update'
      const ring = createKeyRing((count) => random.bytes(count))
      return Promise.resolve({ [ENTRY]: `${JSON.stringify(ring)}\n` })
    }
    const name = { namespace, name: REALM_KEYS_SECRET }
    const update = { name, owner: namespace, type: 'Opaque', keys: ENTRIES, decide } as const
    const texts = await updateSecret(api, update)
    if (attempt.write !== undefined) {
      log.info('keys were created for realms without signingKeys', { namespace, object: name.name })
    }
    return texts[ENTRY]
  }

  /** Keys that were known stay while there are none: the leader creates others, or a person restores them. */
  #take(text: string | undefined): void {
    this.#isKnown = true
    this.#failure = undefined
    if (text === undefined || text === this.#text) return
    try {
      this.#ring = readRing(text)
      this.#text = text
    } catch (error) {
      // Never replaced by new keys: that would invalidate everything signed with it.
      const words = messageOf(error)
      this.#failure =
        `${ENTRY} of Secret ${this.#place()} is broken: ${words}. Restore its content, ` +
        'or delete the Secret, which makes all tickets and tokens of realms without signingKeys invalid'
    }
  }

  #fail(error: unknown, { write }: WriteAttempt): void {
    const { namespace, serviceAccount } = this.#options
    const isForbidden = isApiError(error, 'forbidden')
    const isForeign = error instanceof CertificateError && error.code === 'foreign_secret'
    const words = messageOf(error)
    // Whether there are keys is known, though there are none: documents are served all the same.
    this.#isKnown ||= isForbidden || isForeign
    if (!isForbidden) {
      this.#failure = `keys of realms without signingKeys, Secret ${this.#place()}: ${words}`
      return
    }
    const account = { operatorNamespace: namespace, serviceAccount }
    const command = ownSecretCommand(account, REALM_KEYS_SECRET, { creating: write === 'create' })
    const signing =
      this.#ring === undefined
        ? 'each gateway signs with its own key for realms without signingKeys'
        : 'keys that were read before stay in use'
    this.#failure =
      `the operator may not ${write ?? 'get'} Secret ${this.#place()}, so ${signing}; ` +
      `allow it with: ${command}`
  }

  #notify(before: readonly unknown[]): void {
    const now = [this.#ring, this.#isKnown, this.#failure]
    if (now.every((each, index) => each === before[index])) return
    const failure = this.#failure
    if (failure !== undefined && failure !== before[2]) {
      this.#options.log.warn('the keys of realms could not be read or created', { failure })
    }
    this.#revision += 1
    this.#onChange()
  }

  #place(): string {
    return `${this.#options.namespace}/${REALM_KEYS_SECRET}`
  }
}

interface WriteAttempt {
  /** The last write that was tried; undefined: it only read. */
  write: 'create' | 'update' | undefined
}

/** @throws Error that shows nothing of the content */
const readRing = (text: string): KeyRing => {
  const ring = parseKeyRing(text)
  if (ring.keys.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys`)
  return ring
}
