// Serves `GET /upstreams`: what the serving processes know of the upstreams of `forward` (docs/upstreams.md), merged.

import type { UpstreamsReport } from '../upstream-report.ts'
import { sendJson } from './respond.ts'
import type { Endpoint } from './endpoint.ts'

export const upstreamsEndpoint = (read: () => Promise<UpstreamsReport>): Endpoint => ({
  path: '/upstreams',
  get: async (_req, res) => {
    sendJson(res, 200, await read())
  },
})
