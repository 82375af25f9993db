// Writes the OpenAPI description of a version of a document.

import { describeVersion } from '../../language/openapi/describe-version.ts'
import { writeYaml } from '../../operator/manifests/write-yaml.ts'
import { CLASS_SETTING, MAX_ROUTES_SETTING } from '../common-settings.ts'
import { defineCommand } from '../command.ts'
import { type DocumentOfFile, readDocuments } from '../explain/read-documents.ts'
import { gatherFiles } from '../validate/gather-files.ts'

/** 0: it was written. 2: it could not be. */
export const openapi = defineCommand(
  {
    program: 'svc openapi',
    summary: 'writes the OpenAPI 3.1 description of a version, without values of Secrets',
    operands: 'FILE|DIR|-…',
    envPrefix: 'SVC_OPENAPI_',
    settings: {
      output: {
        type: 'enum',
        values: ['json', 'yaml'],
        default: 'json',
        short: 'o',
        help: 'how the description is written',
        reason: 'people who read it, or keep it in git',
      },
      api: {
        type: 'string',
        default: null,
        placeholder: 'ID',
        help: 'id of the document, where there are several',
        reason: 'directories with several documents',
      },
      'api-version': {
        type: 'string',
        default: null,
        placeholder: 'NAME',
        help: 'name of the version, where the document has several',
        reason: 'documents with several versions',
      },
      ...CLASS_SETTING,
      ...MAX_ROUTES_SETTING,
    },
    examples: [
      [
        'svc openapi apis/orders.yaml --api-version v1 -o yaml > orders.openapi.yaml',
        'to keep in git',
      ],
    ],
  },
  async ({ settings, operands }, { print, complain, fail, readStdin }) => {
    if (operands.length === 0)
      return fail('name a file or directory with documents, or - for stdin')
    const gathered = await gatherFiles(operands, readStdin)
    if ('error' in gathered) return fail(gathered.error)
    const { class: className, maxRoutes, api, apiVersion, output } = settings
    const { documents, leftOut } = readDocuments(gathered.files, { className, maxRoutes })
    for (const line of leftOut) complain(`left out: ${line}\n`)
    const found = documents
      .filter(({ compiled }) => api === null || compiled.id === api)
      .flatMap(versionsOf)
      .filter(({ name }) => apiVersion === null || name === apiVersion)
    const [first, another] = found
    if (first === undefined) return fail('there is no such version among the documents')
    if (another !== undefined)
      return fail(`there are several: ${found.map(flagsOf).join(', ')}; name one`)
    const described = first.describe()
    if (described === undefined)
      return fail(`the description has more than ${MOST_CHARACTERS} characters`)
    print(output === 'yaml' ? writeYaml(described) : `${JSON.stringify(described, null, 2)}\n`)
    return 0
  },
)

/** Optional segments of long paths could stand for far more than memory has. */
const MOST_CHARACTERS = 64 * 1024 * 1024

interface FoundVersion {
  readonly id: string
  readonly name: string
  readonly describe: () => ReturnType<typeof describeVersion>
}

const versionsOf = ({ document, compiled }: DocumentOfFile): readonly FoundVersion[] =>
  compiled.versions.map((version) => ({
    id: compiled.id,
    name: version.name,
    describe: () => describeVersion(document, compiled, version, MOST_CHARACTERS),
  }))

const flagsOf = ({ id, name }: FoundVersion): string => `--api ${id} --api-version ${name}`
