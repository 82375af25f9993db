// Writes the documents and realms of a running gateway as manifests.

import { addressProblem } from '../../operator/gateway-operand.ts'
import { MANAGEMENT_SETTINGS } from '../../operator/management-settings.ts'
import { defineCommand } from '../command.ts'

export const importGateway = defineCommand(
  {
    program: 'svc import',
    summary:
      'writes the documents and realms of the gateway with this management address as manifests',
    operands: 'URL',
    envPrefix: 'SVC_IMPORT_',
    settings: {
      out: {
        type: 'path',
        default: null,
        placeholder: 'DIR',
        help: 'a file for each, in this directory; none is overwritten',
      },
      namespace: {
        type: 'string',
        default: null,
        placeholder: 'NAME',
        help: 'namespace of the manifests',
      },
      ...MANAGEMENT_SETTINGS,
    },
    examples: [['svc import http://127.0.0.1:18081 --out apis', 'manifests to keep in git']],
  },
  async ({ settings, operands }, io) => {
    const [url] = operands
    const problem =
      url === undefined || operands.length > 1
        ? 'name the management address of one gateway, such as http://127.0.0.1:18081'
        : addressProblem(url)
    if (url === undefined || problem !== undefined) {
      io.complain(`svc import: ${problem ?? ''}\n`)
      return 2
    }
    const { runImport } = await import('../../operator/import/import-command.ts')
    return await runImport(url, settings, { ...io, program: 'svc import' })
  },
)
