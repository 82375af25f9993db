// Registers the procedures that the example documents call, and a clock, at a router. Keeps its orders in memory and
// forgets them when it closes.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AutobahnClient, connectAutobahn, type Handler } from './router/autobahn-client.ts'

export interface Procedures extends AsyncDisposable {
  /** Unregisters the procedures. */
  readonly close: () => Promise<void>
}

/**
 * @param clockMs between two ticks of `com.example.clock`
 * Rejects when the router does not let it join, or has one of the procedures already.
 * @example
 * await using procedures = await startProcedures(router.wsUrl, 'com.example.realm')
 */
export const startProcedures = async (
  routerUrl: string,
  realm: string,
  clockMs = 1000,
): Promise<Procedures> => {
  const client = await connectAutobahn(routerUrl, realm)
  const clock = setInterval(() => {
    const now = new Date()
    publish(client, 'com.example.clock', { time: now.toISOString(), seconds: now.getSeconds() })
  }, clockMs)
  void client.closed.then(() => {
    clearInterval(clock)
  })
  const close = async (): Promise<void> => {
    clearInterval(clock)
    await client.close()
  }
  const state: State = { client, orders: new Map(FIRST_ORDERS) }
  try {
    await Promise.all(
      Object.entries(PROCEDURES).map(([uri, procedure]) =>
        client.session.register(uri, (...invoked) => procedure(state, ...invoked)),
      ),
    )
  } catch (cause) {
    await close()
    throw new Error(`the example procedures cannot be registered at ${routerUrl}`, { cause })
  }
  return { close, [Symbol.asyncDispose]: close }
}

interface Order {
  readonly id: string
  readonly sku: string
  readonly quantity: number
  readonly status: 'open' | 'sent'
}

interface State {
  readonly client: AutobahnClient
  readonly orders: Map<string, Order>
}

type Procedure = (state: State, ...invoked: Parameters<Handler>) => unknown

const FIRST_ORDERS: readonly (readonly [string, Order])[] = [
  ['1', { id: '1', sku: 'ZPK1972', quantity: 2, status: 'open' }],
  ['2', { id: '2', sku: 'ZPK1980', quantity: 1, status: 'sent' }],
]

const MAX_ORDERS = 1000
const MAX_SLEEP_MS = 30_000
const MAX_STEPS = 100

/** These timers do not keep the process alive: nothing waits for them when all is closed. */
const UNHELD = { ref: false } as const

/** `(id)` or `id=`: the order, or `com.example.error.no_such_order`. */
const getOrder: Procedure = ({ client, orders }, args, kwargs) => {
  const id = String(args[0] ?? kwargs['id'])
  const order = orders.get(id)
  if (order === undefined) throw client.errorOf('com.example.error.no_such_order', [id], { id })
  return order
}

/** `sku=, quantity=`: the new order, which is also published to `com.example.orders.created`. */
const createOrder: Procedure = ({ client, orders }, _args, { sku, quantity }) => {
  if (typeof sku !== 'string' || typeof quantity !== 'number') {
    throw invalidArgument(client, 'sku (text) and quantity (number) are needed')
  }
  if (orders.size >= MAX_ORDERS) throw client.errorOf('com.example.error.no_room', [], {})
  const order: Order = { id: String(orders.size + 1), sku, quantity, status: 'open' }
  orders.set(order.id, order)
  publish(client, 'com.example.orders.created', order)
  return order
}

/** All orders, or those with `status=`: `items=, total=`. */
const listOrders: Procedure = ({ client, orders }, _args, { status }) => {
  const all = [...orders.values()]
  const items = status === undefined ? all : all.filter((order) => order.status === status)
  return client.resultOf([], { items, total: items.length })
}

/** `(a, b, …)`: the sum. */
const add: Procedure = ({ client }, args) => {
  const numbers = args.filter((arg) => typeof arg === 'number')
  if (numbers.length < args.length) throw invalidArgument(client, 'only numbers can be added')
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** `steps=, every_ms=`: a progressive result after each step if the caller receives progress; then the report. */
const report: Procedure = async (_state, _args, kwargs, { progress }) => {
  const steps = Math.min(numberOr(kwargs['steps'], 5), MAX_STEPS)
  const everyMs = Math.min(numberOr(kwargs['every_ms'], 300), MAX_SLEEP_MS)
  for (let step = 1; step <= steps; step++) {
    await sleep(everyMs, undefined, UNHELD)
    progress?.([], { step, steps })
  }
  return { title: 'Orders of the day', steps }
}

/** `(ms)` or `ms=`: that number, after that time. */
const beSlow: Procedure = async (_state, args, kwargs) => {
  const ms = Math.min(numberOr(args[0] ?? kwargs['ms'], 1000), MAX_SLEEP_MS)
  await sleep(ms, undefined, UNHELD)
  return ms
}

/** Always `com.example.error.out_of_stock`, with the remaining number of `sku=`. */
const fail: Procedure = ({ client }, _args, kwargs) => {
  const sku = typeof kwargs['sku'] === 'string' ? kwargs['sku'] : 'ZPK1972'
  throw client.errorOf('com.example.error.out_of_stock', [sku, 3], { sku, left: 0 })
}

const PROCEDURES: Readonly<Record<string, Procedure>> = {
  'com.example.orders.get': getOrder,
  'com.example.orders.create': createOrder,
  'com.example.orders.list': listOrders,
  'com.example.math.add': add,
  'com.example.report': report,
  'com.example.slow': beSlow,
  'com.example.fail': fail,
}

/** Not acknowledged: nothing waits for it, and it can't fail later. */
const publish = ({ session }: AutobahnClient, topic: string, kwargs: object): void => {
  if (session.isOpen) session.publish(topic, [], kwargs)
}

const invalidArgument = (client: AutobahnClient, why: string): Error =>
  client.errorOf('wamp.error.invalid_argument', [why], {})

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && value >= 0 ? value : otherwise
