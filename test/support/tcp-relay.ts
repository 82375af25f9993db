// Opens a port of our own in front of a server. Bytes pass untouched until the relay is frozen (nothing moves, every
// connection stays open) or cut (every connection is reset).

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface TcpRelay extends AsyncDisposable {
  readonly port: number
  /** Pairs of connections that are open. */
  readonly connections: number
  /** New connections are taken and hear nothing, too. */
  freeze(): void
  thaw(): void
  /** New connections pass again; those that were frozen hear nothing for ever, as where a machine is replaced. */
  thawNew(): void
  /** Resets every connection; new ones are taken. */
  cut(): void
  /** New connections lead there; those that are open stay as they are. */
  leadTo(targetPort: number): void
}

/**
 * @example
 * await using relay = await startTcpRelay(8080)
 * relay.freeze()
 */
export const startTcpRelay = async (targetPort: number): Promise<TcpRelay> => {
  const pairs = new Set<readonly [near: Socket, far: Socket]>()
  const state = { isFrozen: false, targetPort }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({
      host: '127.0.0.1',
      port: state.targetPort,
      allowHalfOpen: true,
      noDelay: true,
    })
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      // A reset on one side is told by closing the other.
      from.on('error', () => undefined)
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
      if (!state.isFrozen) from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    freeze: () => {
      state.isFrozen = true
      for (const [near, far] of pairs) {
        near.unpipe(far).pause()
        far.unpipe(near).pause()
      }
    },
    thaw: () => {
      state.isFrozen = false
      for (const [near, far] of pairs) near.pipe(far).pipe(near)
    },
    thawNew: () => {
      state.isFrozen = false
    },
    cut,
    leadTo: (port) => {
      state.targetPort = port
    },
    [Symbol.asyncDispose]: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
