// A steady stream of requests to one URL, whatever the server is doing meanwhile: told `start`, it counts
// those it sends from then on; told `stop`, it waits for the last of them and says how long they took. By
// IPC; ends with its parent.

import { Agent, get } from 'node:http'
import { percentile } from '../statistics.ts'
import type { ProbeReport } from '../probe.ts'

const EVERY_MS = 2
const WARM_REQUESTS = 500

/** What was sent between a `start` and the next. */
interface Window {
  readonly tookMs: number[]
  failed: number
  waiting: number
  /** Set by `stop`: called when nothing is waiting any more. */
  onEmpty: (() => void) | undefined
}

const openWindow = (): Window => ({ tookMs: [], failed: 0, waiting: 0, onEmpty: undefined })

const url = process.argv[2] ?? ''
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
let current = openWindow()
let sent = 0

const send = (): void => {
  const window = current
  const startedMs = performance.now()
  window.waiting += 1
  const settle = (isServed: boolean): void => {
    window.tookMs.push(performance.now() - startedMs)
    window.waiting -= 1
    if (!isServed) window.failed += 1
    if (window.waiting === 0) window.onEmpty?.()
  }
  get(url, { agent }, (response) => {
    response.resume().on('end', () => {
      settle(response.statusCode === 200)
    })
  }).on('error', () => {
    settle(false)
  })
  sent += 1
  if (sent === WARM_REQUESTS) process.send?.('ready')
}

const report = ({ tookMs, failed }: Window): ProbeReport => ({
  requests: tookMs.length,
  failed,
  p50Ms: percentile(tookMs, 0.5),
  p99Ms: percentile(tookMs, 0.99),
  p999Ms: percentile(tookMs, 0.999),
  slowestMs: percentile(tookMs, 1),
})

const stop = (window: Window): void => {
  current = openWindow()
  const answer = (): void => {
    process.send?.(report(window))
  }
  if (window.waiting === 0) answer()
  else window.onEmpty = answer
}

const timer = setInterval(send, EVERY_MS)
process.on('message', (word) => {
  if (word === 'start') current = openWindow()
  else stop(current)
})
process.on('disconnect', () => {
  clearInterval(timer)
  process.exit()
})
