// What the API server has heard from one account, counted: the flags that make it write that down in, numbers by
// kind and verb out.

import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface AuditLog {
  /** Of the API server. */
  readonly flags: readonly string[]
  /** Requests from now on. */
  readonly mark: () => Promise<void>
  /** Since the last mark. */
  readonly read: () => Promise<readonly RequestCount[]>
}

export interface RequestCount {
  readonly verb: string
  /** With its subresource: `apispecifications/status`. */
  readonly resource: string
  readonly count: number
}

/** @param account who is listened to: `system:serviceaccount:NAMESPACE:NAME` */
export const prepareAuditLog = async (directory: string, account: string): Promise<AuditLog> => {
  const policyPath = join(directory, 'audit-policy.json')
  const logPath = join(directory, 'audit.log')
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', users: [account] }, { level: 'None' }],
  }
  await writeFile(policyPath, JSON.stringify(policy))
  await writeFile(logPath, '')
  let start = 0
  return {
    flags: [`--audit-policy-file=${policyPath}`, `--audit-log-path=${logPath}`],
    mark: async () => {
      start = (await readFrom(logPath, 0, true)).size
    },
    read: async () => countRequests((await readFrom(logPath, start)).text),
  }
}

const readFrom = async (
  path: string,
  start: number,
  isSizeEnough = false,
): Promise<{ readonly text: string; readonly size: number }> => {
  await using file = await open(path)
  const { size } = await file.stat()
  if (isSizeEnough) return { text: '', size }
  const bytes = Buffer.alloc(Math.max(0, size - start))
  await file.read(bytes, 0, bytes.length, start)
  return { text: bytes.toString(), size }
}

interface AuditEvent {
  readonly stage: string
  readonly verb: string
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string }
}

/** A watch counts when it begins, everything else when it was answered. Lines of the log in. */
const countRequests = (text: string): readonly RequestCount[] => {
  const counts = new Map<string, RequestCount>()
  for (const line of text.split('\n')) {
    if (!line.endsWith('}')) continue
    const { stage, verb, objectRef } = JSON.parse(line) as AuditEvent
    if (stage !== (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) continue
    const { resource = '', subresource } = objectRef ?? {}
    const of = subresource === undefined ? resource : `${resource}/${subresource}`
    const key = `${verb} ${of}`
    counts.set(key, { verb, resource: of, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** Of all that is written, what is no renewal of a Lease. */
export const countWrites = (counts: readonly RequestCount[]): number =>
  sumOf(counts.filter(({ verb, resource }) => !READS.has(verb) && resource !== 'leases'))

export const countStatusWrites = (counts: readonly RequestCount[]): number =>
  sumOf(counts.filter(({ verb, resource }) => !READS.has(verb) && resource.endsWith('/status')))

const sumOf = (counts: readonly RequestCount[]): number =>
  counts.reduce((total, { count }) => total + count, 0)
