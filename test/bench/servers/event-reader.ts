// The load of the table of events: 1,000 clients of one stream and the publisher of what they get. A few
// publications are under way at a time; the next follows when the oldest has come to all of them.

import { connect } from 'node:net'
import { MESSAGE } from '../../../dataplane/wamp/protocol/messages.ts'
import { joinRouter } from '../raw-session.ts'
import { offerRuns } from '../run-on-demand.ts'
import { percentile } from '../statistics.ts'
import { PUBLISHED, STREAMS } from '../wamp-documents.ts'
import type { Loaded } from '../wrk.ts'

const UNDER_WAY = 4
/** So many are opened at a time. */
const OPENING = 50
const MARK = '~'.charCodeAt(0)
const HEAD_END = '\r\n\r\n'

const [port, target = '', topic = '', router = '', realm = ''] = process.argv.slice(2)
const url = new URL(target)

/** Read into by all: what has come is looked at before the next can come. */
const buffer = Buffer.alloc(64 * 1024)
/** Per publication: to how many streams it has come yet. */
const received: number[] = []
const publishedMs: number[] = []
const tookMs: number[] = []
let onComplete = (): void => undefined

/** Resolves when its head has come. */
const openStream = (): Promise<void> =>
  new Promise((resolve, reject) => {
    let isOpen = false
    let count = 0
    const take = (bytes: number): true => {
      const chunk = buffer.subarray(0, bytes)
      if (!isOpen) {
        const head = chunk.toString('latin1')
        if (!head.startsWith('HTTP/1.1 200 ')) reject(new Error(head))
        if (!head.includes(HEAD_END)) reject(new Error('a head came in pieces'))
        isOpen = true
        resolve()
      }
      for (let at = chunk.indexOf(MARK); at >= 0; at = chunk.indexOf(MARK, at + 1)) arrived(count++)
      return true
    }
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: { buffer, callback: take },
    })
    socket.write(
      `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\n\r\n`,
    )
    socket.on('error', reject)
    socket.on('close', () => {
      process.stderr.write('a stream has ended\n')
      process.exit(1)
    })
  })

const arrived = (publication: number): void => {
  const streams = (received[publication] ?? 0) + 1
  received[publication] = streams
  if (streams < STREAMS) return
  tookMs.push(performance.now() - (publishedMs[publication] ?? NaN))
  onComplete()
}

for (let opened = 0; opened < STREAMS; opened += OPENING)
  await Promise.all(Array.from({ length: OPENING }, openStream))

const session = await joinRouter(router, realm)
const payload = JSON.stringify([PUBLISHED])

const publish = (): void => {
  publishedMs.push(performance.now())
  session.send(`[${MESSAGE.publish},${publishedMs.length},{},"${topic}",${payload}]`)
}

offerRuns(
  Number(port),
  (seconds): Promise<Loaded> =>
    new Promise((resolve) => {
      const startMs = performance.now()
      tookMs.length = 0
      let underWay = UNDER_WAY
      onComplete = () => {
        if (performance.now() - startMs < seconds * 1000) publish()
        else underWay -= 1
        if (underWay > 0) return
        resolve({
          requests: tookMs.length * STREAMS,
          seconds: (performance.now() - startMs) / 1000,
          p50Ms: percentile(tookMs, 0.5),
          p99Ms: percentile(tookMs, 0.99),
          socketErrors: 0,
        })
      }
      for (let index = 0; index < UNDER_WAY; index++) publish()
    }),
)
