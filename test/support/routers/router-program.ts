// Runs a real router until it is interrupted, for people, and prints where it listens, as one line of JSON: `node
// test/support/routers/router-program.ts start nexus|crossbar [realm…]`.

import { once } from 'node:events'
import type { RealRouterName } from './recipe.ts'
import { startRouter } from './start-router.ts'

const isRouterName = (text: string | undefined): text is RealRouterName =>
  text === 'nexus' || text === 'crossbar'

const [verb, name, ...realms] = process.argv.slice(2)
if (verb !== 'start' || !isRouterName(name)) {
  process.stderr.write('usage: router-program.ts start nexus|crossbar [realm…]\n')
  process.exitCode = 2
} else {
  const router = await startRouter(name, { realms })
  process.stdout.write(`${JSON.stringify(router)}\n`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await router[Symbol.asyncDispose]()
}
