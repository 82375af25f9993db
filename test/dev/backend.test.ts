// The service that the examples forward to: what it answers, and how it fails on demand.

import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { WebSocket } from 'ws'
import { type Backend, startBackend } from '../../dev/backend.ts'
import { request } from '../support/http-request.ts'

let backend: Backend

beforeAll(async () => {
  backend = await startBackend(0)
})

afterAll(() => backend.close())

describe('orders', () => {
  it('are listed, filtered, made, read and deleted', async () => {
    const { origin } = backend
    expect((await request(`${origin}/orders`)).json()).toMatchObject({ total: 3 })
    expect((await request(`${origin}/orders?status=sent`)).json()).toMatchObject({ total: 1 })
    const made = await request(`${origin}/orders`, {
      method: 'POST',
      json: { sku: 'C-3', quantity: 4 },
    })
    expect(made.status).toBe(201)
    expect(made.headers.location).toBe('/orders/4')
    const order = { id: '4', sku: 'C-3', quantity: 4, status: 'open' }
    expect((await request(`${origin}/orders/4`)).json()).toEqual(order)
    expect((await request(`${origin}/orders/4`, { method: 'DELETE' })).status).toBe(204)
    expect((await request(`${origin}/orders/4`)).status).toBe(404)
    expect((await request(`${origin}/orders/4`, { method: 'DELETE' })).status).toBe(404)
  })

  it('remember whom the gateway has named', async () => {
    const made = await request(`${backend.origin}/orders`, {
      method: 'POST',
      headers: { 'x-user': 'alice' },
      json: { sku: 'C-3', quantity: 1 },
    })
    expect(made.json()).toMatchObject({ sku: 'C-3', by: 'alice' })
  })

  it.each(['', '[]', 'null', '{', '{"sku":"A-1"}', '{"sku":1,"quantity":1}'])(
    'are not made of %j',
    async (body) => {
      expect((await request(`${backend.origin}/orders`, { method: 'POST', body })).status).toBe(422)
    },
  )
})

describe('on demand', () => {
  it.each([
    ['/slow?ms=1', 200],
    ['/slow?ms=x', 200],
    ['/fail/418', 418],
    ['/fail/200', 500],
    ['/fail/constructor', 500],
    ['/partner', 401],
    ['/constructor', 200],
  ])('%s is %i', async (path, status) => {
    expect((await request(`${backend.origin}${path}`)).status).toBe(status)
  })

  it('/flaky succeeds each third time', async () => {
    const statuses = []
    for (let i = 0; i < 6; i++) statuses.push((await request(`${backend.origin}/flaky`)).status)
    expect(statuses).toEqual([503, 503, 200, 503, 503, 200])
  })

  it('/partner asks for its token', async () => {
    const headers = { authorization: 'Bearer open-sesame' }
    expect((await request(`${backend.origin}/partner`, { headers })).status).toBe(200)
  })

  it('anything else is shown as it arrived', async () => {
    const response = await request(`${backend.origin}/x/y?a=1`, { method: 'PUT', body: 'hi' })
    expect(response.json()).toMatchObject({ method: 'PUT', path: '/x/y', query: 'a=1', body: 'hi' })
  })
})

describe('pages', () => {
  it.each([
    ['/pages/websocket.html', 200, 'text/html; charset=utf-8', '<title>WAMP in a page</title>'],
    ['/pages/autobahn.js', 200, 'text/javascript; charset=utf-8', 'autobahn'],
    ['/pages/../package.json', 200, 'application/json', '"path":"/package.json"'],
    ['/pages/%2e%2e%2fpackage.json', 404, 'application/json', 'no such page'],
    ['/pages/constructor', 404, 'application/json', 'no such page'],
    ['/pages', 404, 'application/json', 'no such page'],
  ])('%s is %i', async (path, status, type, part) => {
    const response = await request(`${backend.origin}${path}`)
    expect(response.status).toBe(status)
    expect(response.headers['content-type']).toBe(type)
    expect(response.text).toContain(part)
  })
})

it('says when its port is taken', async () => {
  const { port } = new URL(backend.origin)
  await expect(startBackend(Number(port))).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

it('a WebSocket echoes what it gets, and ends with the backend', async () => {
  const own = await startBackend(0)
  const socket = new WebSocket(`${own.origin.replace('http:', 'ws:')}/socket`)
  await once(socket, 'open')
  const message = once(socket, 'message')
  socket.send('hello')
  expect(String((await message)[0])).toBe('hello')
  const closed = once(socket, 'close')
  await own.close()
  expect((await closed)[0]).toBe(1006)
})
