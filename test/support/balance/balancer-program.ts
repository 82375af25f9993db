// Balances TCP connections over the places that it is told by IPC, in a process of its own: one after the other, as a
// Service of Kubernetes with a cluster IP does with `ipvs`. It reads nothing of what passes, and tries no second place.

import { connect, createServer, type Socket } from 'node:net'
import type { BalancerResponse, BalancerOrder } from './balancer.ts'
import type { Place } from './instance.ts'

const [port] = process.argv.slice(2)

let places: readonly Place[] = []
let taken = 0

const relay = (near: Socket): void => {
  near.on('error', () => undefined)
  const place = places[taken++ % places.length]
  if (place === undefined) {
    near.resetAndDestroy()
    return
  }
  const far = connect({
    host: place.address,
    port: place.port,
    allowHalfOpen: true,
    noDelay: true,
  })
  far.on('error', () => near.resetAndDestroy())
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}

const tell = (message: BalancerResponse): void => {
  process.send?.(message)
}

createServer({ allowHalfOpen: true, noDelay: true }, relay).listen(
  Number(port),
  '127.0.0.1',
  () => {
    tell({ kind: 'listening' })
  },
)

process.on('message', (order: BalancerOrder) => {
  ;({ places } = order)
  tell({ kind: 'leads' })
})
process.on('disconnect', () => process.exit())
