// Many HTTP clients in one process: `in-flight-program.ts URL COUNT`. Each line on stdin is a path; every client
// posts its number there, on a connection that it keeps, and when all have been answered a line tells what came.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** Of one round. */
export interface RoundReport {
  /** Status or code → how many. */
  readonly responses: Readonly<Record<string, number>>
  /** Answers with another number than was posted. */
  readonly wrong: number
  /** More than one response to one request, or bytes that are none. */
  readonly surplus: number
  /** Connections that ended before they were answered. */
  readonly lost: number
  /** From the first request to the last response. */
  readonly tookMs: number
}

const [, , origin = '', countText = '0'] = process.argv
const { hostname, port, host } = new URL(origin)
/** A listener's backlog is smaller than the number of clients. */
const AT_ONCE = 200

class Client {
  readonly #socket: Socket
  #text = ''
  #answered: ((response: string | undefined) => void) | undefined
  surplus = 0

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      this.#text += text
      this.#take()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => this.#answered?.(undefined))
  }

  post(path: string, json: string): Promise<string | undefined> {
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
    )
    return new Promise((resolve) => {
      this.#answered = resolve
    })
  }

  #take(): void {
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/content-length: (\d+)/i.exec(this.#text.slice(0, end))?.[1])
    if (!(this.#text.length >= end + 4 + length)) return
    const response = this.#text.slice(0, end + 4 + length)
    this.#text = this.#text.slice(response.length)
    const answered = this.#answered
    this.#answered = undefined
    if (answered === undefined || this.#text !== '') this.surplus += 1
    answered?.(response)
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

const openClients = async (count: number): Promise<Client[]> => {
  const clients: Client[] = []
  while (clients.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - clients.length) }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      await once(socket, 'connect')
      return new Client(socket)
    })
    clients.push(...(await Promise.all(batch)))
  }
  return clients
}

const runRound = async (clients: readonly Client[], path: string): Promise<RoundReport> => {
  const responses: Record<string, number> = {}
  let wrong = 0
  let lost = 0
  const sinceMs = performance.now()
  const validate = (response: string | undefined, n: number): void => {
    if (response === undefined) {
      lost += 1
      return
    }
    const status = response.slice(9, 12)
    const name =
      status === '200' ? status : `${status} ${/"code":"([^"]*)"/.exec(response)?.[1] ?? ''}`
    responses[name] = (responses[name] ?? 0) + 1
    if (status === '200' && !response.endsWith(`\r\n\r\n[${n}]`)) wrong += 1
  }
  await Promise.all(
    clients.map(async (client, n) => {
      validate(await client.post(path, `{"args":[${n}]}`), n)
    }),
  )
  const tookMs = performance.now() - sinceMs
  // A second response to a request would be right behind the first.
  await new Promise((resolve) => setTimeout(resolve, 50))
  const surplus = clients.reduce((sum, client) => sum + client.surplus, 0)
  return { responses, wrong, surplus, lost, tookMs }
}

const tell = (message: object): void => {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

const clients = await openClients(Number(countText))
tell({ connected: clients.length })
for await (const path of createInterface({ input: process.stdin })) {
  tell(await runRound(clients, path))
}
for (const client of clients) client.destroy()
