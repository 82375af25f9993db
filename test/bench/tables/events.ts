// The table of one publication that goes to many streams of server-sent events, beside a program that does
// nothing but write the same bytes to as many sockets.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { runsOf } from '../run-on-demand.ts'
import { comparisonRemarks, comparisonTable, fixed, type Section, whole } from '../section.ts'
import type { Summary } from '../statistics.ts'
import type { Server } from '../server-process.ts'
import { LISTENER, STREAMS, TOPICS } from '../wamp-documents.ts'
import { withRouter } from '../wamp-rig.ts'

const EXTRA = {
  'p50 ms': ({ p50Ms }: Summary) => fixed(p50Ms, 1),
  'RSS MB': ({ peakRssMegabytes }: Summary) => fixed(peakRssMegabytes, 0),
}

export const measureEvents = (bench: Bench): Promise<Section> =>
  withRouter(bench.machine, 'nexus', async ({ router, startGateway, startProgram }) => {
    const url = router.rawsocket
    const writer = await startProgram('event-writer.ts', { url })
    const gateway = await startGateway({ url, serializers: ['json'] })
    const readBy = async (
      name: string,
      { pid, url: server }: Server,
      { path, topic }: { readonly path: string; readonly topic: string },
    ): Promise<Subject> => {
      bench.progress(`events: ${whole(STREAMS)} streams of ${name}`)
      const args = [server + path, topic]
      const reader = await startProgram('event-reader.ts', { url, args, isLoad: true })
      return { name, pid, load: runsOf(reader) }
    }
    const subjects = [
      await readBy('bare writer', writer, { path: '/', topic: TOPICS.writer }),
      await readBy('gateway, one body for all', gateway, {
        path: '/v1/shared',
        topic: TOPICS.shared,
      }),
      await readBy('gateway, a body for each', gateway, {
        path: `/v1/own/${LISTENER}`,
        topic: TOPICS.own,
      }),
    ]
    const comparison = await compare(bench, subjects, { title: 'events' })
    return {
      title: 'Events to 1,000 streams',
      method: `Publications on nexus, each to ${whole(STREAMS)} clients as a server-sent event of the same bytes; four publications are under way at a time. \`one body for all\` reads nothing of the request and is rendered once per publication, \`a body for each\` reads a path parameter. \`p50\`: from the publication to its arrival at the last client. Clients, publisher and router share the other core and are the bottleneck: CPU per event is the fair number.`,
      tables: [comparisonTable(comparison, EXTRA, 'event')],
      targets: [],
      remarks: comparisonRemarks(comparison),
    }
  })
