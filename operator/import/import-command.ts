// Runs `svc-operator import URL`: writes manifests of what a running gateway has loaded to stdout or to files, and what
// to do next to stderr. Never overwrites a file.

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../base/thrown.ts'
import { credentialFiles } from '../credential-files.ts'
import { createCredentialReader } from '../fleet/client/credentials.ts'
import { createManagementClient } from '../fleet/management-client.ts'
import type { ManagementSettings } from '../management-settings.ts'
import { type ImportPlan, planImport, type PlannedFile } from './plan-import.ts'
import { type GatewayReading, readGateway } from './read-gateway.ts'

export interface ImportSettings extends ManagementSettings {
  readonly namespace: string | null
  /** Where the files go; null: to stdout. */
  readonly out: string | null
}

export interface ImportOutput {
  /** As it stands before each message: `svc import`. */
  readonly program: string
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const TIMEOUT_MS = 10_000

/** 0: all of it was written. 1: something could not be. 2: nothing was. */
export const runImport = async (
  url: string,
  settings: ImportSettings,
  { program, print, complain }: ImportOutput,
): Promise<0 | 1 | 2> => {
  const fail = (words: string): 2 => {
    complain(`${program}: ${words}\n`)
    return 2
  }
  const reading = await read(url, settings)
  if ('fault' in reading) return fail(`${url}: ${reading.fault}`)
  if (reading.documents.length + reading.realms.length + reading.faults.length === 0) {
    complain(`${url} has no documents and no realms\n`)
    return 0
  }
  const { namespace, out: directory } = settings
  const plan = planImport(reading, { url, namespace, directory })
  if (directory === null) print(plan.files.map(({ text }) => text).join('---\n'))
  else {
    const fault = await write(directory, plan.files)
    if (fault !== undefined) return fail(fault)
    for (const { name } of plan.files) complain(`wrote ${join(directory, name)}\n`)
  }
  for (const line of closing(plan)) complain(`${line}\n`)
  return plan.faults.length === 0 ? 0 : 1
}

const read = async (url: string, settings: ManagementSettings): Promise<GatewayReading> => {
  const client = createManagementClient(
    { name: url, url, labels: {} },
    { credentials: createCredentialReader(credentialFiles(settings)), timeoutMs: TIMEOUT_MS },
  )
  try {
    return await readGateway(client)
  } finally {
    await client.close()
  }
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

const closing = ({ files, faults, next }: ImportPlan): readonly string[] => {
  const count = `${files.length} ${files.length === 1 ? 'manifest' : 'manifests'}`
  const leftOut = faults.map((fault) => `left out: ${fault}`)
  return [...leftOut, `${count}. Next:`, ...next.map((line) => `  ${line}`)]
}
