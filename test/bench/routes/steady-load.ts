// Sends requests at a steady rate, whatever becomes of those before (an open loop), over connections that are kept.

import { Agent, get, type IncomingHttpHeaders } from 'node:http'

export interface Asked {
  /** With its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface ReceivedResponse {
  /** 0: there was no response. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface SteadyLoad extends AsyncDisposable {
  /** Of the requests that have ended since it was called last, ms. */
  takeLatencies(): readonly number[]
}

export interface LoadOptions {
  readonly perSecond: number
  /** The request with that number, and what becomes of its response. */
  readonly ask: (
    index: number,
  ) => Asked & { readonly onResponse: (response: ReceivedResponse) => void }
}

const TICK_MS = 10

/** Runs until it is disposed of, which waits for what is on its way. */
export const startSteadyLoad = ({ perSecond, ask }: LoadOptions): SteadyLoad => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const startedMs = performance.now()
  const onTheirWay = new Set<Promise<void>>()
  let latencies: number[] = []
  let sent = 0
  const sendOne = (): void => {
    const { onResponse, ...asked } = ask(sent)
    sent += 1
    const beganMs = performance.now()
    const done = fetchOnce(agent, asked).then((response) => {
      latencies.push(performance.now() - beganMs)
      onTheirWay.delete(done)
      onResponse(response)
    })
    onTheirWay.add(done)
  }
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * perSecond
    while (sent < due) sendOne()
  }, TICK_MS)
  return {
    takeLatencies: () => {
      const taken = latencies
      latencies = []
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await Promise.all(onTheirWay)
      agent.destroy()
    },
  }
}

/** Never rejects. */
export const fetchOnce = (agent: Agent, { url, headers }: Asked): Promise<ReceivedResponse> =>
  new Promise((resolve) => {
    const request = get(url, { agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
      })
      response.once('error', (error) => {
        resolve({ status: 0, headers: {}, text: error.message })
      })
    })
    request.once('error', (error: NodeJS.ErrnoException) => {
      // An idle connection that the gateway closed while the request was on its way: clients send a GET again.
      if (request.reusedSocket && error.code === 'ECONNRESET')
        resolve(fetchOnce(agent, { url, headers }))
      else resolve({ status: 0, headers: {}, text: error.message })
    })
  })
