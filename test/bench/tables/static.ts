// The table of responses that the gateway gives by itself: fixed and rendered JSON beside servers that do
// nothing but write a buffer.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { mainDocument, STATIC_BODY } from '../documents.ts'
import { loadUnmanaged, startGateway } from '../gateway.ts'
import { startPeers, staticPeers } from '../peers.ts'
import { comparisonRemarks, comparisonTable, ratioAtLeast, type Section } from '../section.ts'
import { withServers } from '../server-process.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const NO_UPSTREAM = 'http://127.0.0.1:9'
const [STATIC, RENDERED] = ['gateway, static', 'gateway, rendered']

export const measureStatic = async (bench: Bench): Promise<Section> => {
  await using directory = await makeTempDir()
  return await withServers(bench.machine, async (start) => {
    const { started, remarks } = await startPeers(staticPeers, {
      machine: bench.machine,
      start,
      directory: directory.path,
    })
    const gateway = await startGateway(start)
    await loadUnmanaged(gateway, [mainDocument(NO_UPSTREAM)])
    const [reference, ...peers] = started.map(({ name, server }): Subject => ({
      name,
      pid: server.pid,
      load: { url: `${server.url}/v1/static` },
    }))
    if (reference === undefined) throw new Error('there is no reference')
    const own = [
      { name: STATIC, pid: gateway.pid, load: { url: `${gateway.url}/v1/static` } },
      { name: RENDERED, pid: gateway.pid, load: { url: `${gateway.url}/v1/items/7?a=1` } },
    ]
    const subjects = [reference, ...own, ...peers]
    const comparison = await compare(bench, subjects, { title: 'static' })
    return {
      title: 'Static and rendered JSON',
      method: `64 connections that are kept alive. ${JSON.stringify(STATIC_BODY).length} bytes of JSON; \`rendered\` is a body of ten expressions. \`×\` is to the first line: requests/s of the one by those of the other, and CPU time per request of the other by that of the one, so more is better in both.`,
      tables: [comparisonTable(comparison)],
      targets: [
        ...ratioAtLeast(comparison, STATIC, reference.name, 0.98),
        ...ratioAtLeast(comparison, RENDERED, reference.name, 0.88),
      ],
      remarks: [...comparisonRemarks(comparison), ...remarks],
    }
  })
}
