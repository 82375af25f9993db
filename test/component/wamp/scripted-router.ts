// A router that lets everybody in and, when a call comes, sends the bytes that its realm's script names instead of
// a response. It speaks WebSocket and every serializer, and keeps count of what it was sent.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  MESSAGE,
  type SerializerName,
  type WampMessage,
} from '../../../dataplane/wamp/protocol/messages.ts'
import { WAMP_CODECS } from '../../support/wamp-codec.ts'

/** One frame. */
export interface Frame {
  readonly bytes: Uint8Array
  readonly isText: boolean
}

/** What is sent for the first call of a realm, in this order; further calls are answered as they should be. */
export type Script = (request: number, codec: Codec) => readonly Frame[]

export interface Codec {
  readonly name: SerializerName
  /** A message as the session's serializer writes it. */
  frame(message: WampMessage): Frame
}

export interface Visit {
  readonly realm: string
  /** Types of messages in the order in which they came. */
  readonly types: number[]
  /** Code of the close frame that came, 1006 without one; undefined: it is open. */
  closed: number | undefined
}

export interface ScriptedRouter extends AsyncDisposable {
  readonly url: string
  /** One for each session, in the order in which they joined. */
  readonly visits: readonly Visit[]
}

/** @param scripts realm → script; every other realm is answered as it should be */
export const startScriptedRouter = async (
  scripts: ReadonlyMap<string, Script>,
): Promise<ScriptedRouter> => {
  const visits: Visit[] = []
  const played = new Set<string>()
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  server.on('connection', (socket) => {
    serveSession(socket, {
      visits,
      scriptOf: (realm) => {
        if (played.has(realm)) return undefined
        played.add(realm)
        return scripts.get(realm)
      },
    })
  })
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`,
    visits,
    [Symbol.asyncDispose]: async () => {
      for (const client of server.clients) client.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Stage {
  readonly visits: Visit[]
  readonly scriptOf: (realm: string) => Script | undefined
}

const serveSession = (socket: WebSocket, { visits, scriptOf }: Stage): void => {
  const name = socket.protocol.replace('wamp.2.', '') as SerializerName
  const { encode, decode, isText } = WAMP_CODECS[name]
  const codec: Codec = { name, frame: (message) => ({ bytes: encode(message), isText }) }
  const send = ({ bytes, isText: asText }: Frame): void => {
    if (socket.readyState === socket.OPEN) socket.send(bytes, { binary: !asText })
  }
  let visit: Visit = { realm: '', types: [], closed: undefined }
  const onMessage = (message: WampMessage): void => {
    const request = Number(message[1])
    visit.types.push(Number(message[0]))
    if (message[0] === MESSAGE.hello) {
      const realm = typeof message[1] === 'string' ? message[1] : ''
      visit = { realm, types: [MESSAGE.hello], closed: undefined }
      visits.push(visit)
      send(codec.frame([MESSAGE.welcome, visits.length, { roles: { broker: {}, dealer: {} } }]))
    } else if (message[0] === MESSAGE.call) {
      const script = scriptOf(visit.realm)
      const frames = script?.(request, codec) ?? [
        codec.frame([MESSAGE.result, request, {}, ['right']]),
      ]
      for (const frame of frames) send(frame)
    } else if (message[0] === MESSAGE.subscribe) {
      send(codec.frame([MESSAGE.subscribed, request, 7]))
    } else if (message[0] === MESSAGE.goodbye) {
      send(codec.frame([MESSAGE.goodbye, {}, 'wamp.close.goodbye_and_out']))
    }
  }
  socket.on('message', (data) => {
    onMessage(decode(data as Buffer))
  })
  socket.on('error', () => undefined)
  socket.on('close', (code) => {
    visit.closed = code
  })
}
