// Serves a document with a login and asks what `argv` names, one after another; a line for each tells its status, and
// whether Express is loaded by then. For a test that needs the modules of a process of its own.

import { createRequire } from 'node:module'
import { createEndpoints } from '../../../../dataplane/http/builtin/endpoints.ts'
import { apiOf, serveGateway } from '../served-gateway.ts'
import { accepted } from '../verdicts.ts'

const { cache } = createRequire(import.meta.url)
const isExpressLoaded = (): boolean =>
  Object.keys(cache).some((path) => path.includes('/node_modules/express/'))

const answer = () => Promise.resolve({ status: 302, headers: [], body: '' })

const { handle } = createEndpoints({
  loadOidc: () =>
    Promise.resolve({ login: answer, callback: answer, logout: answer, backChannelLogout: answer }),
  loadOAuth2: () => Promise.resolve({ token: answer, revoke: answer }),
  tokenKeys: { publicKeys: () => [] },
  ownOrigin: undefined,
})
await using gateway = await serveGateway({ endpoints: handle, authenticate: () => accepted() })
await gateway.load(
  apiOf({}, { defaults: { security: { type: 'oidc' } }, version: { base_path: '/v1' } }),
)
for (const asked of process.argv.slice(2)) {
  const [method = '', path = ''] = asked.split(' ')
  const { status } = await gateway.ask(method, path, { headers: { connection: 'close' } })
  process.stdout.write(`${asked} ${status} ${isExpressLoaded() ? 'Express' : 'nothing'}\n`)
}
