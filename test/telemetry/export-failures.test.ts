// Losses are told at once, then at most once a minute, with what was lost in all.

import { expect, it } from '@jest/globals'
import { createExportFailures } from '../../telemetry/export-failures.ts'
import { createLog } from '../../telemetry/log.ts'

it('tells of losses once a minute', () => {
  const lines: unknown[] = []
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) }
  let nowMs = 0
  const tell = createExportFailures(
    createLog({ level: 'info', name: 'test', destination }),
    () => nowMs,
  )
  const counts = { exported: 1, failed: 2, dropped: 3, waiting: 4 }
  for (nowMs = 0; nowMs < 130_000; nowMs += 1000) tell(`at ${nowMs}`, { ...counts, failed: nowMs })
  expect(lines).toMatchObject([
    { level: 'warn', reason: 'at 0', exported: 1, failed: 0, dropped: 3 },
    { reason: 'at 60000', failed: 60_000 },
    { reason: 'at 120000' },
  ])
})
