// Copies what etcd stores, restores it, or compacts its history. It starts and stops nothing.

import { cp, rm } from 'node:fs/promises'
import { etcdDataDirectory } from './server-commands.ts'
import type { ServerProcess } from './server-process.ts'

/** What the kernel has at this moment is what etcd would find after a crash, from which it recovers. */
export const copyData = async (
  etcd: ServerProcess,
  directory: string,
  copy: string,
): Promise<void> => {
  await etcd.freeze()
  try {
    const filter = (path: string): boolean => !path.endsWith('.tmp')
    await cp(etcdDataDirectory(directory), copy, { recursive: true, filter })
  } finally {
    etcd.thaw()
  }
}

/** etcd must not run. */
export const replaceData = async (directory: string, copy: string): Promise<void> => {
  await rm(etcdDataDirectory(directory), { recursive: true, force: true })
  await cp(copy, etcdDataDirectory(directory), { recursive: true })
}

/** One write of our own first, so that the newest resource version that anyone has seen is old, too. */
export const forgetHistory = async (url: string): Promise<void> => {
  const ask = async (method: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${url}/v3/kv/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`etcd answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const key = Buffer.from('compacted').toString('base64')
  const { header } = (await ask('put', { key })) as {
    readonly header: { readonly revision: string }
  }
  await ask('compaction', { revision: header.revision, physical: true })
}
