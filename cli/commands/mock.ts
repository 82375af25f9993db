// Serves documents on loopback with what their examples give in place of upstreams and routers.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../base/thrown.ts'
import { CLASS_SETTING, MAX_ROUTES_SETTING } from '../common-settings.ts'
import { defineCommand } from '../command.ts'
import { readExamples } from '../examples/read-examples.ts'
import { readSet, SET_FLAG } from '../examples/read-set.ts'
import { gatherFiles } from '../validate/gather-files.ts'

/** It ends with the process. 2: it could not listen, or there is nothing to serve. */
export const mock = defineCommand(
  {
    program: 'svc mock',
    summary:
      'serves documents on loopback with what their examples give in place of upstreams and routers',
    operands: 'FILE|DIR|-…',
    repeated: SET_FLAG,
    envPrefix: 'SVC_MOCK_',
    settings: {
      port: {
        type: 'integer',
        default: 18_070,
        min: 0,
        max: 65_535,
        help: 'the port on 127.0.0.1; 0 takes a free one',
        reason: 'several mocks on one machine',
      },
      ...CLASS_SETTING,
      ...MAX_ROUTES_SETTING,
    },
    examples: [['svc mock apis/', 'curl http://127.0.0.1:18070/v1/orders/7']],
  },
  async ({ settings, operands, repeated }, { print, complain, fail, readStdin }) => {
    if (operands.length === 0) return fail('name the files to serve, or - for stdin')
    const set = readSet(repeated)
    if ('error' in set) return fail(set.error)
    const gathered = await gatherFiles(operands, readStdin)
    if ('error' in gathered) return fail(gathered.error)
    const { documents, examples, leftOut } = readExamples(gathered.files, {
      ...settings,
      set: set.variables,
    })
    for (const line of leftOut) complain(`left out: ${line}\n`)
    if (documents.length === 0) return fail(`there is no document in ${operands.join(', ')}`)
    const { createMockGateway } = await import('../../dataplane/examples/mock-gateway.ts')
    const server = await createMockGateway({
      documents,
      examples: examples.map(({ placed }) => placed),
      onUnexpected: (error) => {
        complain(`a request failed unexpectedly: ${messageOf(error)}\n`)
      },
    })
    try {
      server.listen(settings.port, '127.0.0.1')
      await once(server, 'listening')
    } catch (error) {
      return fail(`127.0.0.1:${settings.port}: ${messageOf(error)}`)
    }
    const { port } = server.address() as AddressInfo
    print(`http://127.0.0.1:${port} (documents: ${documents.length}, examples: ${examples.length})
`)
    await once(server, 'close')
    return 0
  },
)
