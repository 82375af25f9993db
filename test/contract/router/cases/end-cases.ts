// How a router goes and comes back: what its sessions see of it. Runs last, as it ends every session.

import { MESSAGE } from '../../../../dataplane/wamp/wire.ts'
import type { RawPeer } from '../../../support/raw-wamp-peer.ts'
import { call, register } from '../../../support/wamp-peer.ts'
import { type CaseContext, type ContractCase, errorOf } from '../contract-case.ts'

const SHUTDOWN = 'wamp.close.system_shutdown'

export const END_CASES: readonly ContractCase[] = [
  {
    name: 'SIGTERM: what sessions are told; all is forgotten when it is back',
    each: {
      embedded: { told: [SHUTDOWN, SHUTDOWN], after: 'wamp.error.no_such_procedure' },
      nexus: { told: [SHUTDOWN, SHUTDOWN], after: 'wamp.error.no_such_procedure' },
      crossbar: { told: ['nothing', 'nothing'], after: 'wamp.error.no_such_procedure' },
    },
    run: (context) => restarted(context, {}),
  },
  {
    name: 'kill -9: what sessions are told; all is forgotten when it is back',
    same: { told: ['nothing', 'nothing'], after: 'wamp.error.no_such_procedure' },
    run: (context) => restarted(context, { kill: true }),
  },
]

const restarted = async (
  { router, open, uri }: CaseContext,
  how: { readonly kill?: boolean },
): Promise<unknown> => {
  const peers = [await open({ url: router.ws }), await open({ url: router.rawsocket })]
  for (const [index, peer] of peers.entries()) await register(peer, `${uri}.p${index}`, () => ({}))
  await router.stop(how)
  const told = await Promise.all(peers.map(lastWord))
  await router.restart()
  const after = errorOf(await call(await open(), `${uri}.p0`))
  return { told, after }
}

const lastWord = async (peer: RawPeer): Promise<unknown> => {
  if (!(await peer.endsWithin(15_000))) return 'the connection is still open'
  const goodbye = peer.unread.find(([type]) => type === MESSAGE.goodbye)
  return goodbye === undefined ? 'nothing' : goodbye[2]
}
