// Maintains the CA of the operator, its client certificate, that of its webhook and one server certificate per
// namespace of data planes, and renews them. Only the leader writes; other replicas read.

import { messageOf } from '../../base/thrown.ts'
import type { Log } from '../../telemetry/log.ts'
import { guarded } from '../../base/guarded.ts'
import type { Clock } from '../../base/clock.ts'
import type { KubernetesApi, ObjectName } from '../kubernetes/client/api.ts'
import { TaskLoop } from '../../base/task-loop.ts'
import type { Authority } from './authority.ts'
import { CertificateError } from './certificate-error.ts'
import { SECRET_NAMES, serverNameOf } from './certificate-names.ts'
import { type RandomSource, type KeyPair, SYSTEM_RANDOM } from './issue-certificate.ts'
import {
  maintainAuthority,
  maintainLeaf,
  type StoredLeaf,
  readLeaf,
  type IssuerDeps,
} from './certificate-secrets.ts'
import { NamespaceCertificates } from './namespace-certificates.ts'
import { type CertificatePolicy, DEFAULT_POLICY } from './policy.ts'
import { isSignedBy } from './read-certificate.ts'
import { readSecret } from './secret-store.ts'
import { FirstCertificates } from './first-certificates.ts'
import { StableSince } from './stable-since.ts'

export interface CertificateManagerOptions {
  readonly api: KubernetesApi
  /** The operator's own namespace. */
  readonly namespace: string
  /** The operator's service account, named in the command that grants a missing permission; svc-operator. */
  readonly serviceAccount?: string
  /** Called in each round. */
  readonly dataPlaneNamespaces: () => Iterable<string>
  /**
   * Those of the namespaces where no gateway starts, and so none is seen, before its certificate is there. Checked in
   * each round.
   */
  readonly awaitedNamespaces?: readonly string[]
  /** What data planes have as `--management-client-name`. */
  readonly clientName: string
  /** Names of the webhook: `<service>.<namespace>.svc`, or an IPv4 address; none: it gets no certificate. */
  readonly webhookNames?: readonly string[]
  readonly policy?: CertificatePolicy
  /** How often Secrets are read: the operator's own, and those of data planes; 1 and 10 minutes. */
  readonly checkMs?: number
  readonly namespaceCheckMs?: number
  readonly clock: Clock
  readonly random?: RandomSource
  readonly log: Log
  /** Called after every change of what the methods below return. What it throws is logged. */
  readonly onChange: () => void
}

/** In the form of the fleet's client. PEM. */
export interface DataPlaneCredentials {
  readonly tls: {
    readonly ca: string
    readonly cert: string
    readonly key: string
    readonly servername: string
  }
}

interface Published {
  readonly client: StoredLeaf | undefined
  readonly webhook: StoredLeaf | undefined
}

/** How often a standby operator reads that has no certificate yet. */
const AWAITED_MS = 1_000

export class CertificateManager {
  readonly #options: CertificateManagerOptions
  readonly #deps: IssuerDeps
  readonly #namespaces: NamespaceCertificates
  readonly #firstCertificates: FirstCertificates
  #bundleSettled = new StableSince()
  #leavesSettled = new StableSince()
  readonly #firstRound = Promise.withResolvers<undefined>()
  #published: Published = { client: undefined, webhook: undefined }
  #credentials = new Map<string, DataPlaneCredentials>()
  #authority: Authority | undefined
  #isLeading = false
  #failure: string | undefined
  /** Runs one thing at a time, so that no two writes of ours race. */
  readonly #loop: TaskLoop

  constructor(options: CertificateManagerOptions) {
    this.#options = options
    const { api, namespace, clock, log } = options
    this.#deps = {
      api,
      clock,
      log,
      owner: namespace,
      serviceAccount: options.serviceAccount ?? 'svc-operator',
      policy: options.policy ?? DEFAULT_POLICY,
      random: options.random ?? SYSTEM_RANDOM,
      mayWrite: () => this.#isLeading && !this.#loop.hasStopped(),
    }
    const { namespaceCheckMs = 600_000, awaitedNamespaces = [] } = options
    const awaited = new Set(awaitedNamespaces)
    this.#namespaces = new NamespaceCertificates(this.#deps, (each) =>
      awaited.has(each) ? 0 : namespaceCheckMs,
    )
    this.#firstCertificates = new FirstCertificates(this.#deps, this.#own('authority'))
    this.#loop = new TaskLoop(clock, () => this.#round())
  }

  /** Reads what is there, now and repeatedly. */
  start(): void {
    this.#loop.trigger()
  }

  /** From now on, certificates that are due are written, too. */
  lead(): void {
    this.#isLeading = true
    this.#loop.trigger()
  }

  /** From now on nothing is written, also by a round under way. */
  follow(): void {
    this.#isLeading = false
    // What another leader does meanwhile is not known here.
    this.#authority = undefined
    this.#bundleSettled = new StableSince()
    this.#leavesSettled = new StableSince()
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#firstRound.resolve(undefined)
    await this.#loop.stop()
  }

  /**
   * Checks a namespace now instead of in the next round. Costs nothing where that was done seconds ago, or where this
   * operator does not lead. Never rejects: see `failures`.
   */
  ensureNamespace(namespace: string): Promise<void> {
    return this.#loop.exclusively(async () => {
      if (!this.#isLeading || this.#authority === undefined) return
      await this.#namespaces.maintainNew(namespace, this.#authority)
    })
  }

  /**
   * Creates the certificate of a namespace where there is none, whether this operator leads or not. Never rejects.
   * @returns what stands in the way and what to do; undefined: it is there
   */
  ensureNamespaceCertificate(namespace: string): Promise<string | undefined> {
    return this.#firstCertificates.ensure(namespace)
  }

  /**
   * For the data planes of a namespace; the same object while nothing has changed.
   * @throws Error where there is no client certificate (yet)
   */
  async credentialsFor(namespace: string): Promise<DataPlaneCredentials> {
    await this.#firstRound.promise
    const known = this.#credentials.get(namespace)
    if (known !== undefined) return known
    const { client } = this.#published
    if (client === undefined) {
      throw new Error(
        `the operator has no client certificate yet: ${this.#failure ?? 'it is being issued'}`,
      )
    }
    const { cert, key } = client.pair
    const tls = { ca: client.bundle, cert, key, servername: serverNameOf(namespace) }
    const credentials: DataPlaneCredentials = { tls }
    this.#credentials.set(namespace, credentials)
    return credentials
  }

  /** The same object while nothing has changed; undefined: there is none (yet). */
  webhookCertificate(): KeyPair | undefined {
    return this.#published.webhook?.pair
  }

  /** CAs that are trusted, PEM; undefined: not known yet. */
  caBundle(): string | undefined {
    return this.#published.client?.bundle
  }

  /** What is wrong and what to do, by namespace; that of the operator's own namespace concerns all of them. */
  get failures(): ReadonlyMap<string, string> {
    const own =
      this.#failure === undefined ? [] : [[this.#options.namespace, this.#failure] as const]
    return new Map([...this.#namespaces.failures, ...own])
  }

  /** Name of the Secret → Unix time, ms, when its certificate expires; of those in many namespaces the first. */
  get endsMs(): ReadonlyMap<string, number> {
    const { client, webhook } = this.#published
    const ends = {
      authority: this.#authority?.current.facts.notAfterMs,
      client: client?.facts.notAfterMs,
      webhook: webhook?.facts.notAfterMs,
      server: this.#isLeading ? this.#namespaces.endsMs : undefined,
    } satisfies Record<keyof typeof SECRET_NAMES, number | undefined>
    return new Map(
      Object.entries(SECRET_NAMES).flatMap(([purpose, name]) => {
        const endsMs = ends[purpose as keyof typeof SECRET_NAMES]
        return endsMs === undefined ? [] : [[name, endsMs] as const]
      }),
    )
  }

  async #round(): Promise<number | 'failed'> {
    const { checkMs = 60_000 } = this.#options
    const hasFailed = !(await this.#tryRound())
    this.#firstRound.resolve(undefined)
    if (hasFailed) return 'failed'
    return this.#isWaiting() ? Math.min(AWAITED_MS, checkMs) : checkMs
  }

  async #tryRound(): Promise<boolean> {
    try {
      await (this.#isLeading ? this.#leadRound() : this.#readRound())
    } catch (error) {
      const isOvertaken = error instanceof CertificateError && error.code === 'not_leading'
      if (this.#isLeading || !isOvertaken) {
        this.#failure = messageOf(error)
        this.#options.log.warn('the certificates could not be checked or renewed', { error })
        return false
      }
    }
    this.#failure = undefined
    return true
  }

  /** Waits for the leader to issue them: until then this operator's webhook cannot respond. */
  #isWaiting(): boolean {
    const { client, webhook } = this.#published
    const hasWebhook = (this.#options.webhookNames ?? []).length > 0
    return client === undefined || (hasWebhook && webhook === undefined)
  }

  async #leadRound(): Promise<void> {
    const { clientName, webhookNames = [], dataPlaneNamespaces } = this.#options
    const nowMs = this.#options.clock.now()
    const settled = {
      bundleMs: this.#bundleSettled.ms(nowMs),
      leavesMs: this.#leavesSettled.ms(nowMs),
    }
    const authority = await maintainAuthority(this.#deps, this.#own('authority'), settled)
    this.#authority = authority
    const purpose = { usage: 'client', names: [clientName] } as const
    const client = await maintainLeaf(this.#deps, this.#own('client'), purpose, authority)
    const [first, ...others] = webhookNames
    const webhook =
      first === undefined
        ? undefined
        : await maintainLeaf(
            this.#deps,
            this.#own('webhook'),
            { usage: 'server', names: [first, ...others] },
            authority,
          )
    this.#publish({ client, webhook })
    const isEverywhere = await this.#namespaces.maintainAll([...dataPlaneNamespaces()], authority)
    const isByCurrent = [client, ...(webhook === undefined ? [] : [webhook])].every(({ facts }) =>
      isSignedBy(facts, authority.current.facts),
    )
    const atMs = this.#options.clock.now()
    const state = authority.bundle.map(({ fingerprint }) => fingerprint).join()
    this.#bundleSettled.observe(isEverywhere.bundle ? state : undefined, atMs)
    this.#leavesSettled.observe(isEverywhere.leaves && isByCurrent ? state : undefined, atMs)
  }

  async #readRound(): Promise<void> {
    const { api, webhookNames = [] } = this.#options
    const read = async (name: 'client' | 'webhook'): Promise<StoredLeaf | undefined> => {
      const { texts } = await readSecret(api, this.#own(name))
      return texts && readLeaf(texts)
    }
    const client = await read('client')
    const webhook = webhookNames.length === 0 ? undefined : await read('webhook')
    if (this.#isLeading) return
    // The leader replaces a damaged certificate; until then the one that was read before is used.
    this.#publish({
      client: client ?? this.#published.client,
      webhook: webhook ?? this.#published.webhook,
    })
  }

  #publish({ client, webhook }: Published): void {
    const old = this.#published
    const next = {
      client: isSameLeaf(client, old.client) ? old.client : client,
      webhook: isSameLeaf(webhook, old.webhook) ? old.webhook : webhook,
    }
    if (next.client === old.client && next.webhook === old.webhook) return
    this.#published = next
    if (next.client !== old.client) this.#credentials = new Map()
    this.#notify()
  }

  readonly #notify = guarded(
    () => {
      this.#options.onChange()
    },
    (error) => {
      this.#options.log.error('a listener for new certificates has failed', { error })
    },
  )

  #own(name: keyof typeof SECRET_NAMES): ObjectName {
    return { namespace: this.#options.namespace, name: SECRET_NAMES[name] }
  }
}

const isSameLeaf = (left: StoredLeaf | undefined, right: StoredLeaf | undefined): boolean =>
  left?.pair.cert === right?.pair.cert &&
  left?.pair.key === right?.pair.key &&
  left?.bundle === right?.bundle
