// Runs the health check for Argo CD on objects, in the Lua of a real Redis: 5.1, as that of Argo CD (gopher-lua), and
// without its libraries, which Argo CD does not open for such a check.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'redis'
import type { ValueMap } from '../../language/expression/value.ts'
import { startRedis } from './redis-server.ts'

export const ARGOCD_HEALTH = readFileSync(
  join(import.meta.dirname, '../../docs/gitops/argocd-health.lua'),
  'utf8',
)

const SCRIPT = `
local obj, encode = cjson.decode(ARGV[1]), cjson.encode
local function check()
  local string, math, bit, struct, cjson, cmsgpack, redis = nil
  ${ARGOCD_HEALTH}
end
return encode(check())`

export interface ArgoCdHealth {
  readonly status: string
  readonly message: string
}

export interface ArgoCdChecker extends AsyncDisposable {
  check(object: ValueMap): Promise<ArgoCdHealth>
}

/** @example await (await startArgoCdChecker()).check(object) // { status: 'Healthy', message: … } */
export const startArgoCdChecker = async (): Promise<ArgoCdChecker> => {
  const redis = await startRedis()
  const client = createClient({ url: redis.url })
  await client.connect()
  return {
    check: async (object) => {
      const result = await client.eval(SCRIPT, { keys: [], arguments: [JSON.stringify(object)] })
      if (typeof result !== 'string') throw new Error('the check returns no text')
      return JSON.parse(result) as ArgoCdHealth
    },
    [Symbol.asyncDispose]: async () => {
      client.destroy()
      await redis[Symbol.asyncDispose]()
    },
  }
}
