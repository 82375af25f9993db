// Starts a Redis for tests that stores nothing and refuses the commands that a test names, over RESP3.

import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

export interface FakeRedis extends AsyncDisposable {
  readonly url: string
  /** Names of commands, in their order. */
  readonly asked: string[]
  /** How often a command is refused from now on, as by a Redis that still reads its data. */
  readonly refusals: Map<string, number>
  /** The next of these ends its connection. */
  readonly hangUps: Set<string>
}

const REPLIES: Readonly<Record<string, string>> = {
  PING: '+PONG',
  ZADD: ':1',
  PUBLISH: ':1',
  ZREMRANGEBYSCORE: ':0',
  ZRANGEBYSCORE: '*0',
  GET: '_',
}

/** @example await using redis = await startFakeRedis() */
export const startFakeRedis = async (): Promise<FakeRedis> => {
  const asked: string[] = []
  const refusals = new Map<string, number>()
  const hangUps = new Set<string>()
  const sockets = new Set<Socket>()

  const reply = ([name = '', channel = '']: readonly string[]): string => {
    asked.push(name)
    const left = refusals.get(name) ?? 0
    if (left > 0) {
      refusals.set(name, left - 1)
      return '-LOADING Redis is loading the dataset in memory'
    }
    if (name === 'SUBSCRIBE')
      return `>3\r\n$9\r\nsubscribe\r\n$${channel.length}\r\n${channel}\r\n:1`
    return REPLIES[name] ?? '+OK'
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let read = readCommand(text); read !== undefined; read = readCommand(text)) {
        text = read.rest
        if (hangUps.delete(read.words[0] ?? '')) socket.destroy()
        else socket.write(`${reply(read.words)}\r\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    refusals,
    hangUps,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The first whole command (an array of bulk strings), and what follows it. */
const readCommand = (
  text: string,
): { readonly words: readonly string[]; readonly rest: string } | undefined => {
  const [, count] = /^\*(\d+)\r\n/.exec(text) ?? []
  if (count === undefined) return undefined
  const words: string[] = []
  let at = text.indexOf('\r\n') + 2
  while (words.length < Number(count)) {
    const [head, length] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? []
    if (head === undefined) return undefined
    const start = at + head.length
    const end = start + Number(length)
    if (text.length < end + 2) return undefined
    const word = text.slice(start, end)
    words.push(words.length === 0 ? word.toUpperCase() : word)
    at = end + 2
  }
  return { words, rest: text.slice(at) }
}
