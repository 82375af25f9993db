// Sends one gateway the addresses of the Pods behind the Services that its documents name: changes as they come, merged
// with those that follow soon, and everything after a start of the gateway. It is independent of the rounds: neither waits
// for the other, and its failures do not count as theirs.

import { randomUUID } from 'node:crypto'
import type { EndpointsRequest, ServiceEndpoints } from '../../language/wire/wire.ts'
import type { Limiter } from '../../base/limiter.ts'
import { backOffMs, DEFAULT_BACK_OFF } from '../../base/back-off.ts'
import type { EndpointSource } from '../service-endpoints.ts'
import { type EndpointsContent, planEndpointCalls } from './endpoint-calls.ts'
import type { ManagementClient } from './management-client.ts'
import type { FleetContext } from './sync/plane-memory.ts'

export interface SenderOptions extends Pick<
  FleetContext,
  'manager' | 'epochSource' | 'clock' | 'log'
> {
  readonly dataPlane: string
  readonly client: Pick<ManagementClient, 'sendEndpoints'>
  readonly source: Pick<EndpointSource, 'of'>
  /** The Services whose endpoints the gateway should have, as `namespace/name`. */
  readonly wanted: () => ReadonlySet<string>
  /** Bytes of calls under way, of all gateways. */
  readonly bodyBytes: Limiter
  /** Aborted when nothing may be sent any more. */
  readonly signal: AbortSignal
}

/** Changes within this time are sent together. */
const MERGE_MS = 10
/** Between two calls; changes meanwhile are sent together. */
const SPACING_MS = 50
const MAX_BACK_OFF_MS = 5_000

export class EndpointsSender {
  readonly #options: SenderOptions
  readonly #sender = randomUUID()
  #sequence = 0
  #sent: ReadonlyMap<string, ServiceEndpoints> = new Map()
  /** The boot of the gateway as of the last round; undefined: nothing is sent to it now. */
  #bootId: string | undefined
  /** The next call must contain everything. */
  #isWhole = true
  /** The Services of the last plan. */
  #planned: ReadonlySet<string> | undefined
  /** The boot of a gateway that does not know this call. */
  #olderBootId: string | undefined
  /** The status of the last rejection that was logged. */
  #rejection: number | undefined
  #failures = 0
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #isDirty = false
  #sentAtMs = -Infinity

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Call it when the endpoints may have changed. */
  wake(): void {
    const sinceMs = this.#options.clock.now() - this.#sentAtMs
    this.#schedule(
      this.#failures > 0 ? this.#backOffMs() : Math.max(MERGE_MS, SPACING_MS - sinceMs),
    )
  }

  /** Call it when the desired documents have changed; nearly always they name the same Services. */
  follow(): void {
    if (this.#options.wanted() !== this.#planned) this.wake()
  }

  /**
   * Call it after each round. Sync calls do not change what a gateway knows of Services, so after an edit nothing is sent.
   * @param bootId of the gateway; undefined: it belongs to another operator, or does not respond
   */
  afterRound(bootId: string | undefined): void {
    const isNew = bootId !== undefined && bootId !== this.#bootId
    this.#bootId = bootId
    if (bootId === undefined || !(isNew || this.#isWhole)) return
    this.#isWhole = true
    this.wake()
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#bootId = undefined
    this.#cancel?.()
    this.#cancel = undefined
    await this.#running
  }

  #schedule(ms: number): void {
    this.#isDirty = true
    if (this.#running !== undefined || this.#cancel !== undefined || !this.#isOpen()) return
    this.#cancel = this.#options.clock.after(ms, () => {
      this.#cancel = undefined
      this.#running = this.#send().finally(() => {
        this.#running = undefined
        if (this.#isDirty) this.wake()
      })
    })
  }

  /** A method, so that the compiler does not narrow it: it may change while something is awaited. */
  #isOpen(): boolean {
    const bootId = this.#bootId
    return bootId !== undefined && bootId !== this.#olderBootId && !this.#options.signal.aborted
  }

  async #send(): Promise<void> {
    const { wanted, source, log, dataPlane } = this.#options
    this.#isDirty = false
    this.#sentAtMs = this.#options.clock.now()
    const isWhole = this.#isWhole
    this.#isWhole = false
    this.#planned = wanted()
    const plan = planEndpointCalls({
      sent: this.#sent,
      wanted: this.#planned,
      isWhole,
      stateOf: (service) => source.of(service),
      sizeOf: (endpoints) => textOf(endpoints).length,
    })
    try {
      for (const content of plan.calls) if (!(await this.#call(content))) return
      this.#sent = plan.sent
      this.#failures = 0
      this.#rejection = undefined
    } catch (error) {
      if (this.#options.signal.aborted) return
      log.error('the addresses of Pods could not be sent to a data plane', { dataPlane, error })
      this.#fail()
    }
  }

  /** @returns false: the call was not accepted */
  async #call(content: EndpointsContent): Promise<boolean> {
    if (!this.#isOpen()) {
      this.#isWhole = true
      return false
    }
    const { dataPlane, manager, epochSource, client, bodyBytes, signal } = this.#options
    this.#sequence += 1
    const bytes = bodyOf(content, {
      managedBy: manager,
      epoch: epochSource.epoch(dataPlane),
      sender: this.#sender,
      sequence: this.#sequence,
    })
    const release = await bodyBytes.acquire({ weight: bytes.length, signal })
    try {
      const response = await client.sendEndpoints(bytes)
      if (response.result === 'ok') return true
      if (response.result === 'refused') this.#onRejected(response.status, response.refusal.message)
      else this.#fail()
      return false
    } finally {
      release()
    }
  }

  /** The next call sends everything, as it is not known what the data plane has accepted. */
  #fail(): void {
    this.#isWhole = true
    this.#isDirty = true
    this.#failures += 1
  }

  #onRejected(status: number, message: string): void {
    const { log, dataPlane } = this.#options
    this.#isWhole = true
    if (status === 404 || status === 405) {
      // Nothing is sent until it restarts, perhaps with another version.
      this.#olderBootId = this.#bootId
      const words =
        'data plane is older than this operator and takes no addresses of Pods: it calls Services by their own address'
      log.info(words, { dataPlane })
      return
    }
    // The next round finds out whether it has another owner, or has seen a later leader.
    this.#bootId = undefined
    if (this.#rejection === status) return
    this.#rejection = status
    log.warn('data plane rejects the addresses of Pods', { dataPlane, status, reason: message })
  }

  #backOffMs(): number {
    const { clock } = this.#options
    return Math.min(MAX_BACK_OFF_MS, backOffMs(this.#failures, DEFAULT_BACK_OFF, clock.random()))
  }
}

/** The JSON of each, formatted once for all gateways. */
const texts = new WeakMap<ServiceEndpoints, string>()

const textOf = (endpoints: ServiceEndpoints): string => {
  const known = texts.get(endpoints)
  if (known !== undefined) return known
  const text = JSON.stringify(endpoints)
  texts.set(endpoints, text)
  return text
}

const bodyOf = (
  { put, delete: gone, only }: EndpointsContent,
  head: Pick<EndpointsRequest, 'managedBy' | 'epoch' | 'sender' | 'sequence'>,
): Buffer => {
  const rest = JSON.stringify({ ...head, delete: gone, ...(only !== undefined && { only }) })
  return Buffer.from(`${rest.slice(0, -1)},"put":[${put.map(textOf).join(',')}]}`)
}
