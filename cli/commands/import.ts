// Writes the documents and realms of a running gateway as manifests, to stdout or to files, and what to do next to
// stderr. Never overwrites a file.

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../base/thrown.ts'
import { MANAGEMENT_SETTINGS, type ManagementSettings } from '../../operator/management-settings.ts'
import { defineCommand } from '../command.ts'
import { askGateway } from '../explain/gateway.ts'
import { addressProblem } from '../gateway-operand.ts'
import { type ImportPlan, planImport, type PlannedFile } from '../import/plan-import.ts'
import { type GatewayReading, readGateway } from '../import/read-gateway.ts'

/** 0: all of it was written. 1: something could not be. 2: nothing was. */
export const importGateway = defineCommand(
  {
    program: 'svc import',
    summary:
      'writes the documents and realms of the gateway with this management address as manifests',
    operands: 'URL',
    envPrefix: 'SVC_IMPORT_',
    settings: {
      dir: {
        type: 'path',
        default: null,
        placeholder: 'DIR',
        help: 'a file for each, in this directory; none is overwritten',
        reason: 'those who keep the result in git',
      },
      namespace: {
        type: 'string',
        default: null,
        placeholder: 'NAME',
        help: 'namespace of the manifests',
        reason: 'manifests for a cluster',
      },
      ...MANAGEMENT_SETTINGS,
    },
    examples: [['svc import http://127.0.0.1:18081 --dir apis', 'manifests to keep in git']],
  },
  async ({ settings, operands }, { print, complain, fail }) => {
    const [url] = operands
    if (url === undefined || operands.length > 1)
      return fail('name the management address of one gateway, such as http://127.0.0.1:18081')
    const problem = addressProblem(url)
    if (problem !== undefined) return fail(problem)
    const reading = await read(url, settings)
    if ('error' in reading) return fail(`${url}: ${reading.error}`)
    if (reading.documents.length + reading.realms.length + reading.errors.length === 0) {
      complain(`${url} has no documents and no realms\n`)
      return 0
    }
    const { namespace, dir: directory } = settings
    const plan = planImport(reading, { url, namespace, directory })
    if (directory === null) print(plan.files.map(({ text }) => text).join('---\n'))
    else {
      const error = await write(directory, plan.files)
      if (error !== undefined) return fail(error)
      for (const { name } of plan.files) complain(`wrote ${join(directory, name)}\n`)
    }
    for (const line of closing(plan)) complain(`${line}\n`)
    return plan.errors.length === 0 ? 0 : 1
  },
)

const read = async (url: string, settings: ManagementSettings): Promise<GatewayReading> => {
  const read = await askGateway(url, settings, async (client) => ({
    result: 'ok',
    value: await readGateway(client),
    etag: undefined,
  }))
  return 'error' in read ? read : read.value
}

/** All of them or none, as far as that can be known before. */
const write = async (
  directory: string,
  files: readonly PlannedFile[],
): Promise<string | undefined> => {
  try {
    await mkdir(directory, { recursive: true })
    for (const { name } of files) {
      const path = join(directory, name)
      if (existsSync(path)) return `${path} is there already: nothing was written`
    }
    for (const { name, text } of files) await writeFile(join(directory, name), text, { flag: 'wx' })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const closing = ({ files, errors, next }: ImportPlan): readonly string[] => {
  const count = `${files.length} ${files.length === 1 ? 'manifest' : 'manifests'}`
  const leftOut = errors.map((error) => `left out: ${error}`)
  return [...leftOut, `${count}. Next:`, ...next.map((line) => `  ${line}`)]
}
