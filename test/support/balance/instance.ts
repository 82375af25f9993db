// Starts instances of an upstream, each a process of its own (`instance-program.ts`), and tells them how to behave.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { programEnvironment } from '../program-environment.ts'
import { settled } from '../settled.ts'

export type Behaviour =
  | { readonly kind: 'answers'; readonly status: number; readonly delayMs: number }
  /** Takes requests and never answers. */
  | { readonly kind: 'silent' }
  /** Closes a connection as its tenth request comes in. */
  | { readonly kind: 'cuts' }

export interface InstanceOrder {
  readonly kind: 'behave' | 'count'
  readonly id: number
  readonly behaviour: Behaviour
}

export type InstanceReport =
  | { readonly kind: 'listening' }
  | { readonly kind: 'received'; readonly id: number; readonly requests: number }

export interface Place {
  readonly address: string
  readonly port: number
}

export interface Instance extends Place, AsyncDisposable {
  /** As its responses tell it. */
  readonly name: string
  readonly behave: (behaviour: Behaviour) => Promise<void>
  /** Requests that it got so far, answered or not. */
  readonly received: () => Promise<number>
  /** SIGTERM; resolves when it has ended. */
  readonly stop: () => Promise<void>
  /** SIGKILL; resolves when it has ended. */
  readonly kill: () => Promise<void>
}

const PROGRAM = join(import.meta.dirname, 'instance-program.ts')

/** @example await using one = await startInstance({ address: '127.0.0.2', port }, 'one') */
export const startInstance = async ({ address, port }: Place, name: string): Promise<Instance> => {
  const child = await startProgram(PROGRAM, [address, String(port), name])
  const ask = createAsking(child)
  const kill = (): Promise<void> => endProgram(child, 'SIGKILL')
  return {
    name,
    address,
    port,
    behave: async (behaviour) => {
      await ask('behave', behaviour)
    },
    received: () => ask('count', { kind: 'silent' }),
    stop: () => endProgram(child, 'SIGTERM'),
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

/** An address where attempts to connect are never answered: its server accepts nothing, and its queue is full. */
export const startBlackHole = async (place: Place): Promise<AsyncDisposable> => {
  const child = await startProgram(PROGRAM, [place.address, String(place.port), 'frozen'])
  const fillers: Socket[] = []
  // One that does not get through finds the queue full.
  for (let isFull = false; !isFull && fillers.length < 20;) {
    const filler = connect({ host: place.address, port: place.port })
    filler.on('error', () => undefined)
    fillers.push(filler)
    isFull = await Promise.race([
      once(filler, 'connect').then(() => false),
      // Where this process was held up meanwhile it has come and is not read yet.
      sleep(400)
        .then(settled)
        .then(settled)
        .then(() => true),
    ])
  }
  return {
    [Symbol.asyncDispose]: async () => {
      for (const each of fillers) each.destroy()
      await endProgram(child, 'SIGKILL')
    },
  }
}

/** Throws unless its first message comes. */
export const startProgram = async (
  program: string,
  args: readonly string[],
): Promise<ChildProcess> => {
  const child = fork(program, args, { env: programEnvironment(), execArgv: [] })
  const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as unknown[]
  if (typeof first !== 'object')
    throw new Error(`${program} ${args.join(' ')} ended before it listened`)
  return child
}

export const endProgram = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

const createAsking = (
  child: ChildProcess,
): ((kind: InstanceOrder['kind'], behaviour: Behaviour) => Promise<number>) => {
  let id = 0
  const waiting = new Map<number, (requests: number) => void>()
  child.on('message', (response: InstanceReport) => {
    if (response.kind !== 'received') return
    waiting.get(response.id)?.(response.requests)
    waiting.delete(response.id)
  })
  return (kind, behaviour) =>
    new Promise((resolve, reject) => {
      id++
      waiting.set(id, resolve)
      child.send({ kind, id, behaviour } satisfies InstanceOrder, (error) => {
        if (error !== null) reject(error)
      })
    })
}
