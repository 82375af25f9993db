import { expect, it } from '@jest/globals'
import { createWebSocketRoutes } from '../../../../dataplane/http/upgrade/web-socket-route.ts'
import type { ServedTarget, ServedWebSocket } from '../../../../dataplane/served.ts'
import type { RouteTable } from '../../../../language/router/route-table.ts'

const version = (name: string, realmUri = 'com.acme') => ({ apiId: 'a', name, realmUri })

type Table = RouteTable<ServedTarget<unknown>, ServedWebSocket>

const tableOf = (set: object): Table => ({ sets: new Map([['a', set]]) }) as unknown as Table

it('the routes of a document are read once for all connections that ask whether it is served', () => {
  let reads = 0
  const routes = [version('v1'), version('v2')].map((each) => ({
    get target() {
      reads++
      return { version: each }
    },
  }))
  const table = tableOf({
    routes,
    webSockets: [
      { target: { version: version('v1'), security: [] } },
      { target: { version: version('v3') } },
    ],
  })
  const webSockets = createWebSocketRoutes(
    () => table,
    () => true,
  )
  for (let times = 0; times < 100; times++) {
    expect(webSockets.servesPaths(version('v2'))).toBe(true)
    expect(webSockets.servesPaths(version('v3'))).toBe(false)
    expect(webSockets.servesPaths(version('v2', 'com.other'))).toBe(false)
  }
  expect(reads).toBe(2)
  expect(webSockets.serves(version('v1'))).toBe(true)
  expect(webSockets.serves(version('v2'))).toBe(false)
  expect(webSockets.serves(version('v3'))).toBe(false)
  expect(webSockets.servesPaths({ ...version('v1'), apiId: 'b' })).toBe(false)
})

it('a document that was replaced is read again', () => {
  let table = tableOf({ routes: [{ target: { version: version('v1') } }] })
  const webSockets = createWebSocketRoutes(
    () => table,
    () => true,
  )
  expect(webSockets.servesPaths(version('v1'))).toBe(true)
  table = tableOf({ routes: [{ target: { version: version('v2') } }] })
  expect(webSockets.servesPaths(version('v1'))).toBe(false)
})
