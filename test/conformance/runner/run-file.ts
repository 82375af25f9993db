// Runs a case file against a running gateway, and gives one result for each step, in order, as each is done. What the
// file has loaded is deleted after it. It never throws for what a case or the gateway does.

import type { CaseFile, Step } from './case-file.ts'
import type { Upstreams } from './list-faults.ts'
import { CaseError, placeholdersFor } from './placeholders.ts'
import { runStep, send, type Stage } from './run-step.ts'
import type { Address } from '../../support/raw-client.ts'

/** The gateway under test and what stands around it. */
export interface Bench {
  readonly public: Address
  readonly management: Address
  readonly upstreams: Upstreams
  /** `127.0.0.1:PORT` where nothing listens. */
  readonly refused: string
}

/** Faults of each step: empty lists for those that pass. */
export type Results = ReadonlyMap<Step, readonly string[]>

/** So many steps in a row without a response, and the rest of a file is not waited for. */
const MAX_SILENT_STEPS = 3

/**
 * Runs all steps of a file.
 *
 * @example
 * const results = await runFile(file, bench)
 * expect([...results.values()].flat()).toEqual([])
 */
export const runFile = async (file: CaseFile, bench: Bench): Promise<Results> => {
  const stage = stageFor(file, bench)
  const results = new Map<Step, string[]>()
  let blocked = await setUp(file, stage)
  let silent = 0
  for (const step of file.steps) {
    const faults = blocked === undefined ? await attempt(stage, step) : [blocked]
    results.set(step, faults)
    silent = faults.some((fault) => fault.includes('no response')) ? silent + 1 : 0
    if (silent === MAX_SILENT_STEPS) {
      blocked = `not run: the gateway left ${MAX_SILENT_STEPS} steps in a row without a response`
    }
  }
  await cleanUp(stage)
  return results
}

const stageFor = (file: CaseFile, bench: Bench): Stage => {
  const [first, second] = bench.upstreams
  const addresses = {
    upstreams: [first.authority, second.authority],
    refused: bench.refused,
    publicPort: bench.public.port,
  } as const
  return {
    placeholders: placeholdersFor(file.stem, addresses),
    documents: file.documents,
    upstreams: bench.upstreams,
    listeners: { public: bench.public, management: bench.management },
    loadedIds: new Set(),
    realmUris: new Set(),
  }
}

/** Creates the realms and documents of a file; a text if that failed. */
const setUp = async (file: CaseFile, stage: Stage): Promise<string | undefined> => {
  const steps: Step[] = [
    ...file.realms.map((realm) => ({ realm })),
    ...file.load.map((load) => ({ load })),
  ]
  for (const step of steps) {
    const [fault] = await attempt(stage, step)
    if (fault !== undefined) {
      return `not run: ${step.realm === undefined ? 'a document' : 'a realm'} of this file did not load: ${fault}`
    }
  }
  return undefined
}

const attempt = async (stage: Stage, step: Step): Promise<string[]> => {
  try {
    return await runStep(stage, step)
  } catch (error) {
    if (error instanceof CaseError) return [`the case is wrong: ${error.message}`]
    return [`runner trouble: ${(error as Error).stack ?? ''}`]
  }
}

const cleanUp = async (stage: Stage): Promise<void> => {
  const paths = [
    ...[...stage.loadedIds].map((id) => `/api_specs/${encodeURIComponent(id)}`),
    ...[...stage.realmUris].map((uri) => `/realms/${encodeURIComponent(uri)}`),
  ]
  for (const path of paths) {
    // A gateway that no longer answers has failed its steps already.
    await send(stage, { method: 'DELETE', path, to: 'management' }, 5).catch(() => undefined)
  }
}
