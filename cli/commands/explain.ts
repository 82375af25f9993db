// Says which route takes a request, and why others do not.

import { runExplain } from '../../operator/explain/explain-command.ts'
import { sourceProblem } from '../../operator/gateway-operand.ts'
import { defineCommand } from '../command.ts'
import { JSON_SETTING, SOURCE_SETTINGS } from '../source-settings.ts'

export const explain = defineCommand(
  {
    program: 'svc explain',
    summary:
      'says which route takes a request, what it lacks, and what happens then; sends nothing',
    operands: 'METHOD REQUEST-URL FILE|DIR|-…|URL',
    repeated: {
      flag: '-H',
      placeholder: "'NAME: VALUE'",
      help: 'a header of the request, as for curl; values are never printed',
    },
    envPrefix: 'SVC_EXPLAIN_',
    settings: { ...JSON_SETTING, ...SOURCE_SETTINGS },
    examples: [
      ["svc explain GET https://api.acme.com/v1/users/42 -H 'Accept: text/html' apis/", 'by files'],
    ],
  },
  async ({ settings, operands, repeated }, io) => {
    const [method, url, ...source] = operands
    const problem =
      method === undefined || url === undefined
        ? 'name the method and the URL of the request, such as GET https://api.acme.com/users'
        : method.includes('://')
          ? `name the method before the URL of the request, such as GET ${method}`
          : sourceProblem(source)
    if (method !== undefined && url !== undefined && problem === undefined)
      return await runExplain({ method, url, headers: repeated }, source, settings, {
        ...io,
        program: 'svc explain',
      })
    io.complain(`svc explain: ${problem ?? ''}\n`)
    return 2
  },
)
