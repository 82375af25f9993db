// Runs the playground: a gateway, its operator on examples/ and a backend to call, in one terminal. Everything is on
// loopback and ends with Ctrl-C.

import { join, relative } from 'node:path'
import { messageOf } from '../base/thrown.ts'
import { describeEvent } from '../cli/serve/events.ts'
import type { StatusView } from '../cli/serve/status-view.ts'
import { type Playground, startPlayground } from './playground.ts'
import { choosePorts } from './ports.ts'
import { readExamples } from './read-examples.ts'
import { type Greeting, renderGreeting } from './screen.ts'

/** The path as a person would type it; messages name files by it. */
const EXAMPLES = relative(process.cwd(), join(import.meta.dirname, '../examples')) || '.'

const main = async (): Promise<void> => {
  const choice = await choosePorts()
  if ('error' in choice) return fail(choice.error)
  let isGreeted = false
  const early: string[] = []
  const playground = await startPlayground({
    ports: choice.ports,
    examples: EXAMPLES,
    onLine: (program, line) => {
      const event = describeEvent(program, line, new Date())
      if (event === undefined) return
      if (isGreeted) print(event)
      else early.push(event)
    },
  }).catch((error: unknown) => {
    early.forEach(print)
    return fail(messageOf(error))
  })
  stopOnSignals(playground)
  void playground.failed.then((words) => stopAll(playground, words))
  print(`\n${renderGreeting(await greetingOf(playground, choice.taken))}\n`)
  isGreeted = true
}

const greetingOf = async (playground: Playground, taken: readonly number[]): Promise<Greeting> => {
  const { path, isCopy } = playground.manifests
  const examples = await readExamples(path)
  const status = (await playground.status()) ?? NOTHING
  return { urls: playground.urls, manifests: path, isCopy, examples, status, taken }
}

/** The operator has ended in between. */
const NOTHING: StatusView = { ready: false, resources: [], notes: [], dataPlanes: [] }

let isStopping = false

const stopOnSignals = (playground: Playground): void => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stopAll(playground))
  }
}

const stopAll = async (playground: Playground, failure?: string): Promise<void> => {
  if (isStopping) return
  isStopping = true
  await playground.stop()
  if (failure === undefined) process.exit(0)
  fail(failure)
}

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const fail = (message: string): never => {
  process.stderr.write(`playground: ${message}\n`)
  process.exit(2)
}

await main()
