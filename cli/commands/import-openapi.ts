// Writes an OpenAPI description as a document, and what it leaves out to stderr.

import { writeYaml } from '../../operator/manifests/write-yaml.ts'
import { API_VERSION } from '../../operator/resource/resource.ts'
import { defineCommand } from '../command.ts'
import { type Dropped, importDescription } from '../import-openapi/import-description.ts'
import { gatherFiles } from '../validate/gather-files.ts'

const MOST_LINES = 1000
const MOST_CHARACTERS = 500

/** 0: the whole was written. 3: something was left out, or must be filled in. 2: nothing was written. */
export const importOpenapi = defineCommand(
  {
    program: 'svc import-openapi',
    summary:
      'writes an OpenAPI description (2.0, 3.0, 3.1, 3.2) as a document whose operations forward to its server, and lists what it leaves out',
    operands: 'FILE|-',
    envPrefix: 'SVC_IMPORT_OPENAPI_',
    settings: {
      server: {
        type: 'string',
        default: null,
        placeholder: 'URL',
        help: 'where requests go, with its base path, in place of the servers of the description',
        reason: 'descriptions name the public address, which will be that of the gateway',
      },
      realm: {
        type: 'string',
        default: 'com.example',
        placeholder: 'URI',
        help: 'realm of the document',
        reason: 'descriptions know no realms',
      },
    },
    examples: [
      [
        'svc import-openapi petstore.yaml --server http://pets:8080/v2 > apis/pets.yaml',
        'exit 0: all of it, 3: what is on stderr is left out or must be filled in',
      ],
    ],
  },
  async ({ settings, operands }, { print, complain, fail, readStdin }) => {
    const [operand] = operands
    if (operand === undefined || operands.length > 1)
      return fail('name one file with an OpenAPI description, or - for stdin')
    const gathered = await gatherFiles([operand], readStdin)
    if ('error' in gathered) return fail(gathered.error)
    const [file, another] = gathered.files
    if (file === undefined || another !== undefined) return fail(`${operand} is not one file`)
    const imported = importDescription(file.text, settings)
    if ('error' in imported) return fail(`${file.name}: ${imported.error}`)
    const { name, document, dropped } = imported
    print(
      writeYaml({
        apiVersion: API_VERSION,
        kind: 'ApiSpecification',
        metadata: { name },
        spec: { document },
      }),
    )
    for (const line of lines(dropped)) complain(`${line}\n`)
    return dropped.length === 0 ? 0 : 3
  },
)

const lines = (dropped: readonly Dropped[]): readonly string[] => {
  const shown = dropped
    .slice(0, MOST_LINES)
    .map(({ pointer, reason }) => `${pointer.slice(0, MOST_CHARACTERS)}: ${reason}`)
  const more = dropped.length - shown.length
  return more > 0 ? [...shown, `and ${more} more`] : shown
}
