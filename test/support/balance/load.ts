// Sends requests to a URL at an even rate until it is told to stop, and counts what becomes of them, window by window. It
// never waits for a response before it sends the next request, and makes up for nothing that a busy machine made it miss.

import { Agent, request } from 'node:http'

export interface LoadOptions {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly requestsPerSecond: number
}

/** What became of the requests that were sent in a window. */
export interface Tally {
  readonly sent: number
  /** Not answered with 200. */
  readonly failed: number
  /** Of those that failed: how many by status, 0 for a connection that broke. */
  readonly statuses: Readonly<Record<number, number>>
  /** Of those that were answered with 200: how many by instance. */
  readonly byInstance: Readonly<Record<string, number>>
}

export interface Load extends AsyncDisposable {
  /** Resolves when so many requests that are sent from now on have ended. One at a time. */
  readonly next: (requests: number) => Promise<Tally>
  readonly setRate: (requestsPerSecond: number) => void
  /** Of all that have ended so far. */
  readonly total: () => Tally
}

const TICK_MS = 10
/** Beyond it the machine was busy. */
const MOST_AT_ONCE = 15
/** More would only wait, and take the machine from the servers that answer. */
const MOST_OUTSTANDING = 100

export const startLoad = ({ url, method = 'GET', ...options }: LoadOptions): Load => {
  let { requestsPerSecond } = options
  const agent = new Agent({ keepAlive: true })
  const total = new Window(Infinity)
  let window: Window | undefined
  let debt = 0
  let atMs = performance.now()

  const send = (): void => {
    const counted = window?.take()
    total.take()
    let hasEnded = false
    const end = (status: number, instance: string): void => {
      if (hasEnded) return
      hasEnded = true
      total.count(status, instance)
      counted?.count(status, instance)
    }
    const outgoing = request(url, { method, agent }, (response) => {
      const { statusCode = 0, headers } = response
      response.on('error', () => undefined).resume()
      response.once('close', () => {
        end(response.complete ? statusCode : 0, String(headers['x-instance']))
      })
    })
    outgoing.on('error', () => {
      end(0, '')
    })
    outgoing.end(method === 'POST' ? '{}' : undefined)
  }

  const timer = setInterval(() => {
    const nowMs = performance.now()
    debt = Math.min(MOST_AT_ONCE, debt + ((nowMs - atMs) / 1000) * requestsPerSecond)
    atMs = nowMs
    for (; debt >= 1; debt--) if (total.outstanding < MOST_OUTSTANDING) send()
  }, TICK_MS)

  return {
    next: (requests) => {
      window = new Window(requests)
      return window.ended
    },
    setRate: (perSecond) => {
      requestsPerSecond = perSecond
    },
    total: () => total,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await total.idle()
      agent.destroy()
    },
  }
}

class Window implements Tally {
  sent = 0
  failed = 0
  readonly statuses: Record<number, number> = {}
  readonly byInstance: Record<string, number> = {}
  readonly ended: Promise<Tally>
  readonly #size: number
  #ended = 0
  #onChange: () => void = () => undefined

  constructor(size: number) {
    this.#size = size
    this.ended = new Promise((resolve) => {
      this.#onChange = () => {
        if (this.#ended === this.#size) resolve(this)
      }
    })
  }

  get outstanding(): number {
    return this.sent - this.#ended
  }

  take(): this | undefined {
    if (this.sent >= this.#size) return undefined
    this.sent++
    return this
  }

  count(status: number, instance: string): void {
    this.#ended++
    if (status === 200) this.byInstance[instance] = (this.byInstance[instance] ?? 0) + 1
    else {
      this.failed++
      this.statuses[status] = (this.statuses[status] ?? 0) + 1
    }
    this.#onChange()
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = () => {
        if (this.#ended === this.sent) resolve()
      }
      this.#onChange()
    })
  }
}
