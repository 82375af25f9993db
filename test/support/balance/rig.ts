// Sets up what a scenario of load balancing needs: a real gateway that knows names of our own, upstreams of real processes
// behind a name with several addresses or behind one address, and documents that forward to them.

import { post, REALM } from '../../component/gateway-client.ts'
import { freePort } from '../free-port.ts'
import { type GatewayProcess, startGateway } from '../gateway-process.ts'
import { makeTempDir } from '../temp-dir.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type Instance, startInstance } from './instance.ts'
import { type Load, startLoad } from './load.ts'
import { type Names, writeNames } from './names.ts'

/** How long and how much; the shares that must come do not depend on it. */
export interface Pace {
  /** `--upstream-connection-age`; undefined: the gateway's own. */
  readonly connectionAgeSeconds: number | undefined
  /** After so long no connection is left that was open before. */
  readonly renewedMs: number
  /** While nothing is measured, and where faults are. */
  readonly requestsPerSecond: number
  /** While shares are measured. */
  readonly fastPerSecond: number
  /** While instances are replaced. */
  readonly updatePerSecond: number
  /** Requests of which shares are measured. */
  readonly sampleOf: (instances: number) => number
  /** Of the instances behind one address: the number of connections follows from it and the rate. */
  readonly responseMs: number
}

export interface BalanceRig extends AsyncDisposable {
  readonly pace: Pace
  readonly gateway: GatewayProcess
  /** What a name without a port stands for; `answers` may be changed at any time. */
  readonly setName: (name: string, response: Names[string]) => Promise<void>
  /** Loads a document that forwards `GET` and `POST`. @returns its URL */
  readonly expose: (name: string, port: number, options: ForwardOptions) => Promise<string>
  readonly load: (url: string, method?: 'GET' | 'POST') => Load
}

export interface ForwardOptions {
  readonly retries?: number
  readonly timeout?: number
}

export const startBalanceRig = async (pace: Pace): Promise<BalanceRig> => {
  await using start = new AsyncDisposableStack()
  const directory = start.use(await makeTempDir())
  const names = await writeNames(directory.path)
  const { connectionAgeSeconds: age } = pace
  const gateway = start.use(
    await startGateway({
      flags: age === undefined ? [] : ['--upstream-connection-age', String(age)],
      env: names.environment,
    }),
  )
  await expectLoaded(post(gateway, '/realms', { uri: REALM }))
  const parts = start.move()
  return {
    pace,
    gateway,
    setName: (name, response) => names.set(`${name}.test`, response),
    expose: async (name, port, options) => {
      const action = { type: 'forward', host: `http://${name}.test:${port}`, path: '/', ...options }
      const operation = { action, response: {} }
      const paths = { '/call': { get: operation, post: operation } }
      await expectLoaded(
        post(gateway, '/api_specs', {
          id: name,
          host: '_',
          realm_uri: REALM,
          versions: { v1: { base_path: `/${name}`, paths } },
        }),
      )
      return `${gateway.public}/${name}/call`
    },
    load: (url, method = 'GET') =>
      startLoad({ url, method, requestsPerSecond: pace.requestsPerSecond }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** An upstream in processes, and a document in front of it that is called all the time. */
export interface Upstreams extends AsyncDisposable {
  readonly instances: readonly Instance[]
  readonly port: number
  readonly url: string
  readonly load: Load
  /** Starts one more, where the last one listens no more also in its place. */
  readonly add: (address: string, name: string) => Promise<Instance>
  /** What the name, or the balancer, leads to from now on. */
  readonly leadTo: (instances: readonly Instance[]) => Promise<void>
}

export type Front = 'addresses' | 'one address'

export const addressOf = (at: number): string => `127.0.0.${at + 2}`

/** @param count instances at 127.0.0.2, 127.0.0.3, …, all of them used */
export const startUpstreams = async (
  rig: BalanceRig,
  { name, count, front = 'addresses', ...options }: UpstreamsOptions,
): Promise<Upstreams> => {
  await using start = new AsyncDisposableStack()
  const spare = Array.from({ length: count + SPARE }, (_, at) => addressOf(at))
  const port = await freePort(['127.0.0.1', ...spare])
  const add = async (address: string, instanceName: string): Promise<Instance> =>
    parts.use(await startInstance({ address, port }, instanceName))
  const parts = start.use(new AsyncDisposableStack())
  const instances = await Promise.all(
    spare.slice(0, count).map((address, at) => add(address, `i${at}`)),
  )
  const balancer = front === 'addresses' ? undefined : start.use(await startBalancer(port))
  const leadTo = createLeading(rig, name, balancer)
  await leadTo(instances)
  const url = await rig.expose(name, port, options)
  const load = rig.load(url)
  const all = start.move()
  return {
    instances,
    port,
    url,
    load,
    add,
    leadTo,
    [Symbol.asyncDispose]: async () => {
      await load[Symbol.asyncDispose]()
      await all.disposeAsync()
    },
  }
}

interface UpstreamsOptions extends ForwardOptions {
  readonly name: string
  readonly count: number
  readonly front?: Front
}

/** Addresses beyond those in use at first. */
const SPARE = 8

const createLeading = (
  rig: BalanceRig,
  name: string,
  balancer: Balancer | undefined,
): Upstreams['leadTo'] =>
  balancer === undefined
    ? (to) =>
        rig.setName(
          name,
          to.map(({ address }) => address),
        )
    : async (to) => {
        await rig.setName(name, ['127.0.0.1'])
        await balancer.leadTo(to)
      }

const expectLoaded = async (response: ReturnType<typeof post>): Promise<void> => {
  const { status, text } = await response
  if (status !== 204) throw new Error(`expected 204, got ${status}: ${text}`)
}
