// Counts which functions of a program run, by V8's precise coverage: preloaded into it, answers on a Unix socket with
// those of the repository that have run since it was asked last.

import { Session } from 'node:inspector/promises'
import { createServer } from 'node:http'
import { env } from 'node:process'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { coverageSocket, DIRECTORY_VARIABLE } from './coverage.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Of the product: tests and benchmarks are not counted. */
const isOwn = (path: string): boolean =>
  path.startsWith(`${ROOT}/`) && !/^\/(test|node_modules)\//.test(path.slice(ROOT.length))

const directory = env[DIRECTORY_VARIABLE]
if (directory !== undefined && isMainThread) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const take = async (): Promise<readonly string[]> => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return result.flatMap(({ url, functions }) => {
      const path = url.replace(/^file:\/\//, '')
      return isOwn(path)
        ? functions.flatMap(({ ranges: [range] }) =>
            range !== undefined && range.count > 0
              ? [`${path.slice(ROOT.length + 1)}:${range.startOffset}`]
              : [],
          )
        : []
    })
  }
  createServer((_request, response) => {
    take().then(
      (ran) => response.end(JSON.stringify(ran)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
    .listen(coverageSocket(directory, process.argv[1] ?? ''))
    .unref()
}
