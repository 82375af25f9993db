// Sends the requests of the churn benchmark. Its argument is a `ChurnLoad`; it reports each time it is asked to, and
// ends with its parent.

import { churnHost } from './documents.ts'
import type { ChurnLoad, LoadReport } from './churn-load.ts'
import { startSteadyLoad } from './steady-load.ts'

const { urls, documents, perSecond } = JSON.parse(process.argv[2] ?? '') as ChurnLoad
let failures = new Map<string, number>()

const load = startSteadyLoad({
  perSecond,
  ask: (index) => ({
    url: `${urls[index % urls.length] ?? ''}/item`,
    // A prime: neighbours in time are not neighbours in memory.
    headers: { host: churnHost((index * 7919) % documents) },
    onResponse: ({ status, text }) => {
      if (status === 200) return
      const failure = status === 0 ? text : `status ${status}`
      failures.set(failure, (failures.get(failure) ?? 0) + 1)
    },
  }),
})

process.on('message', () => {
  const report: LoadReport = { latenciesMs: load.takeLatencies(), failures: [...failures] }
  failures = new Map()
  process.send?.(report)
})
process.on('disconnect', () => {
  process.exit()
})
process.send?.('started')
